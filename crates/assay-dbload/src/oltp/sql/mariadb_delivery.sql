(w int, carrier int, OUT delivered int)
SQL SECURITY INVOKER
BEGIN
    DECLARE d int DEFAULT 1;
    DECLARE number int;
    DECLARE due varchar(400) DEFAULT '';
    {refused}
    WHILE d <= 10 DO
        SET number = NULL;
        SELECT no_o_id INTO number FROM {s}.new_order WHERE no_w_id = w AND no_d_id = d
        ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF number IS NOT NULL THEN
            SET due = CONCAT(due, IF(due = '', '', ','), '[', d, ',', number, ']');
        END IF;
        SET d = d + 1;
    END WHILE;
    SET due = CONCAT('[', due, ']');
    {gone};
    {carry};
    {delivered};
    {credit};
    SET delivered = ROW_COUNT();
    COMMIT;
END

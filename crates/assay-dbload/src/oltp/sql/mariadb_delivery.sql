(w int, carrier int, OUT delivered int)
SQL SECURITY INVOKER
BEGIN
    DECLARE d int DEFAULT 1;
    DECLARE number int;
    DECLARE due varchar(400) DEFAULT '';
    {refused}
    WHILE d <= 10 DO
        SET number = NULL;
        {oldest};
        IF number IS NOT NULL THEN
            SET due = CONCAT(due, IF(due = '', '', ','), '[', d, ',', number, ']');
        END IF;
        SET d = d + 1;
    END WHILE;
    SET due = CONCAT('[', due, ']');
    {gone};
    {carry};
    {deliver};
    {credit};
    SET delivered = ROW_COUNT();
    COMMIT;
END

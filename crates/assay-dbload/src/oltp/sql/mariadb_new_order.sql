(w int, d int, c int, line_count int, is_local int, wanted json,
    OUT number int, OUT total decimal(12,2), OUT last_name varchar(16), OUT credit char(2))
SQL SECURITY INVOKER
BEGIN
    DECLARE discount, tax, district_tax decimal(4,4);
    DECLARE written int;
    {refused}
    {next};
    SET number = LAST_INSERT_ID();
    {buyer};
    {order};
    {new_order};
    {sell};
    {write};
    SET written = ROW_COUNT();
    IF written = line_count THEN
        SELECT SUM(ol_amount) * (1 - discount) * (1 + tax + district_tax) INTO total FROM {s}.order_line
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
        COMMIT;
    ELSE
        SET number = NULL;
        ROLLBACK;
    END IF;
END

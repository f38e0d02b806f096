(cw int, cd int, c int, name varchar(16),
    OUT customer int, OUT first_name varchar(16), OUT middle char(2), OUT last_name varchar(16),
    OUT balance decimal(12,2), OUT number int, OUT carrier int, OUT entered datetime(6),
    OUT line_count int, OUT amount decimal(12,2))
SQL SECURITY INVOKER
BEGIN
    DECLARE place int;
    {refused}
    {number}
    {last};
    SELECT COUNT(*), SUM(ol_amount) INTO line_count, amount FROM {s}.order_line
    WHERE ol_w_id = cw AND ol_d_id = cd AND ol_o_id = number;
    COMMIT;
END

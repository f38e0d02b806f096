(cw int, cd int, c int, name varchar(16),
    OUT customer int, OUT first_name varchar(16), OUT middle char(2), OUT last_name varchar(16),
    OUT balance decimal(12,2), OUT number int, OUT carrier int, OUT entered datetime(6),
    OUT line_count int, OUT amount decimal(12,2))
SQL SECURITY INVOKER
BEGIN
    DECLARE place int;
    {refused}
    {found}
    SELECT c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d
    INTO first_name, middle, last_name, balance, number, carrier, entered FROM {s}.customer
    JOIN {s}.orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    WHERE c_w_id = cw AND c_d_id = cd AND c_id = customer ORDER BY o_id DESC LIMIT 1;
    SELECT COUNT(*), SUM(ol_amount) INTO line_count, amount FROM {s}.order_line
    WHERE ol_w_id = cw AND ol_d_id = cd AND ol_o_id = number;
    COMMIT;
END

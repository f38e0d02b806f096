(w int, d int, cw int, cd int, c int, name varchar(16), cents int,
    OUT customer int, OUT balance decimal(12,2))
SQL SECURITY INVOKER
BEGIN
    DECLARE place int;
    {refused}
    {found}
    {charge};
    SELECT c_balance INTO balance FROM {s}.customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = customer;
    {district};
    {warehouse};
    {history};
    COMMIT;
END

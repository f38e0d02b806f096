CREATE PROCEDURE {s}.place_order(w int, d int, c int, line_count int, is_local int, wanted json,
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

CREATE PROCEDURE {s}.pay(w int, d int, cw int, cd int, c int, name varchar(16) {letters}, cents int,
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

CREATE PROCEDURE {s}.last_order(cw int, cd int, c int, name varchar(16) {letters},
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

CREATE PROCEDURE {s}.deliver(w int, carrier int, OUT delivered int)
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

CREATE PROCEDURE {s}.low_stock(w int, d int, threshold int, OUT low int)
SQL SECURITY INVOKER
BEGIN
    {refused}
    {low};
    COMMIT;
END

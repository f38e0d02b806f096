CREATE FUNCTION {s}.update_executor(numbers text, OUT seen bigint)
LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint[] := string_to_array(numbers, ',')::bigint[];
BEGIN
    UPDATE {s}.trade SET executor = CASE WHEN executor LIKE '% X %' THEN replace(executor, ' X ', ' ')
        ELSE regexp_replace(executor, ' ', ' X ') END
    WHERE id = ANY (wanted);
    seen := (SELECT d.seen FROM {s}.trade_details(wanted) AS d);
END $$;

CREATE FUNCTION {s}.update_settlement(of_account int, from_s int, OUT seen bigint)
LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint[] := {s}.trades_of_account(of_account, from_s);
BEGIN
    UPDATE {s}.settlement SET cash_type = CASE cash_type WHEN 'Cash Account' THEN 'Cash' WHEN 'Cash' THEN 'Cash Account'
        WHEN 'Margin' THEN 'Margin Account' ELSE 'Margin' END
    WHERE trade_id = ANY (wanted);
    seen := (SELECT d.seen FROM {s}.trade_details(wanted) AS d);
END $$;

CREATE FUNCTION {s}.update_cash(of_symbol text, from_s int, OUT seen bigint)
LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint[] := {s}.trades_of_security(of_symbol, from_s);
BEGIN
    UPDATE {s}.cash_transaction SET name = CASE WHEN name LIKE '% shares of %' THEN replace(name, ' shares of ', ' of ')
        ELSE replace(name, ' of ', ' shares of ') END
    WHERE trade_id = ANY (wanted);
    seen := (SELECT d.seen FROM {s}.trade_details(wanted) AS d);
END $$;

CREATE FUNCTION {s}.data_maintenance(what int, of_customer int, of_symbol text, OUT done int)
LANGUAGE plpgsql AS $$
DECLARE
    of_company int;
BEGIN
    SELECT company_id INTO STRICT of_company FROM {s}.security WHERE symbol = of_symbol;
    CASE what
    WHEN 0 THEN UPDATE {s}.account_permission SET may = CASE may WHEN '0001' THEN '0011' ELSE '0001' END
        WHERE account_id = of_customer * 10 AND may <> '0000';
    WHEN 1 THEN UPDATE {s}.address SET line_2 = CASE line_2 WHEN 'Floor 2' THEN 'Floor 22' ELSE 'Floor 2' END
        WHERE id = (SELECT address_id FROM {s}.customer WHERE id = of_customer);
    WHEN 2 THEN UPDATE {s}.company SET rating = CASE rating WHEN 'AAA' THEN 'AA' ELSE 'AAA' END WHERE id = of_company;
    WHEN 3 THEN UPDATE {s}.customer SET email_2 = CASE WHEN email_2 LIKE '%@office.example'
        THEN replace(email_2, '@office', '@desk') ELSE replace(email_2, '@desk', '@office') END WHERE id = of_customer;
    WHEN 4 THEN UPDATE {s}.customer_tax_rate SET tax_rate_id = tax_rate_id % 20 + 1
        WHERE customer_id = of_customer AND tax_rate_id <= 20;
    WHEN 5 THEN UPDATE {s}.daily_market SET volume = volume + 1 WHERE symbol = of_symbol AND day > {day} - 7;
    WHEN 6 THEN UPDATE {s}.exchange SET description = CASE WHEN description LIKE '%.' THEN rtrim(description, '.')
        ELSE description || '.' END;
    WHEN 7 THEN UPDATE {s}.financial SET begun = CASE WHEN extract(day FROM begun) % 2 = 0 THEN begun - 1
        ELSE begun + 1 END WHERE company_id = of_company;
    WHEN 8 THEN UPDATE {s}.news_item SET published = published + interval '1 day'
        WHERE id IN (SELECT news_id FROM {s}.news_link WHERE company_id = of_company);
    WHEN 9 THEN UPDATE {s}.security SET listed = listed + 1 WHERE symbol = of_symbol;
    WHEN 10 THEN UPDATE {s}.tax_rate SET name = CASE WHEN name LIKE 'Tax %' THEN replace(name, 'Tax ', 'Duty ')
        ELSE replace(name, 'Duty ', 'Tax ') END WHERE id = of_customer % 320 + 1;
    ELSE UPDATE {s}.watch_item SET symbol = of_symbol
        WHERE list_id = of_customer AND symbol = (SELECT min(symbol) FROM {s}.watch_item WHERE list_id = of_customer)
        AND NOT EXISTS (SELECT 1 FROM {s}.watch_item WHERE list_id = of_customer AND symbol = of_symbol);
    END CASE;
    GET DIAGNOSTICS done = ROW_COUNT;
END $$;

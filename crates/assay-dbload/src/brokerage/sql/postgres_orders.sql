CREATE FUNCTION {s}.gain_of(of_account int, of_symbol text, change int, at_price numeric, newest_first boolean)
RETURNS numeric LANGUAGE plpgsql STABLE AS $$
DECLARE
    remaining int := change; gain numeric := 0; closed int; lot record;
BEGIN
    FOR lot IN SELECT h.price, h.quantity FROM {s}.holding AS h WHERE h.account_id = of_account AND h.symbol = of_symbol
        ORDER BY CASE WHEN newest_first THEN -h.trade_id ELSE h.trade_id END
    LOOP
        EXIT WHEN remaining = 0 OR sign(lot.quantity) = sign(remaining);
        closed := least(abs(lot.quantity), abs(remaining)) * sign(remaining);
        gain := gain - closed * (at_price - lot.price);
        remaining := remaining - closed;
    END LOOP;
    RETURN gain;
END $$;

CREATE FUNCTION {s}.trade_order(of_account int, first text, last text, code text, by_symbol text, by_company text,
    by_issue text, of_kind int, how_many int, limit_cents int, with_cash int, newest_first int, back int,
    OUT number bigint, OUT sent int, OUT of_symbol text, OUT cents bigint)
LANGUAGE plpgsql AS $$
DECLARE
    a record; y record; sells boolean := of_kind IN (2, 4, 5); market boolean := of_kind < 3;
    at_price numeric(8,2); rate numeric; charged numeric; gain numeric; assets numeric; taxes numeric := 0;
BEGIN
    SELECT o.customer_id, o.broker_id, o.balance, o.tax_status, c.tier, c.tax_code, b.name INTO STRICT a
    FROM {s}.customer_account AS o JOIN {s}.customer AS c ON c.id = o.customer_id JOIN {s}.broker AS b ON b.id = o.broker_id
    WHERE o.id = of_account;
    IF code <> a.tax_code THEN
        PERFORM 1 FROM {s}.account_permission AS p
        WHERE p.account_id = of_account AND p.tax_code = code AND p.last_name = last AND p.first_name = first;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'this person may not deal for account %', of_account USING ERRCODE = 'AS003';
        END IF;
    END IF;
    IF by_symbol = '' THEN
        SELECT s.symbol, s.exchange_id INTO STRICT y FROM {s}.company AS c JOIN {s}.security AS s ON s.company_id = c.id
        WHERE c.name = by_company AND s.issue = by_issue;
    ELSE
        SELECT s.symbol, s.exchange_id INTO STRICT y FROM {s}.security AS s WHERE s.symbol = by_symbol;
    END IF;
    of_symbol := y.symbol;
    SELECT l.price INTO STRICT at_price FROM {s}.last_trade AS l WHERE l.symbol = y.symbol;
    IF NOT market THEN
        at_price := limit_cents / 100.0;
    END IF;
    gain := {s}.gain_of(of_account, y.symbol, CASE WHEN sells THEN -how_many ELSE how_many END, at_price, newest_first = 1);
    IF gain > 0 AND a.tax_status > 0 THEN
        SELECT gain * sum(r.rate) INTO taxes FROM {s}.customer_tax_rate AS x JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id
        WHERE x.customer_id = a.customer_id;
    END IF;
    SELECT r.rate INTO STRICT rate FROM {s}.commission_rate AS r WHERE r.tier = a.tier AND r.kind = of_kind
        AND r.exchange_id = y.exchange_id AND r.from_quantity <= how_many AND r.to_quantity >= how_many;
    SELECT c.amount INTO STRICT charged FROM {s}.charge AS c WHERE c.kind = of_kind AND c.tier = a.tier;
    IF with_cash = 0 THEN
        SELECT a.balance + coalesce(sum(h.quantity * l.price), 0) INTO assets
        FROM {s}.holding_summary AS h JOIN {s}.last_trade AS l ON l.symbol = h.symbol WHERE h.account_id = of_account;
    END IF;
    number := nextval('{s}.trade_numbers');
    sent := market::int;
    cents := at_price * 100;
    INSERT INTO {s}.trade VALUES (number, localtimestamp, CASE WHEN market THEN 2 ELSE 1 END, of_kind, with_cash = 1,
        y.symbol, how_many, at_price, of_account, first || ' ' || last, NULL, charged,
        round(how_many * at_price * rate / 100, 2), round(taxes, 2), newest_first = 1);
    INSERT INTO {s}.trade_history VALUES (number, localtimestamp, CASE WHEN market THEN 2 ELSE 1 END);
    IF NOT market THEN
        INSERT INTO {s}.trade_request VALUES (number, of_kind, y.symbol, how_many, at_price, a.broker_id);
    END IF;
    IF back = 1 THEN
        RAISE EXCEPTION 'the order is taken back' USING ERRCODE = 'AS002';
    END IF;
END $$;

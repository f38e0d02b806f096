-- Numbers of trades to come.
CREATE SEQUENCE {s}.trade_numbers START WITH {next} CACHE 20;

-- Transactions that only read.
CREATE FUNCTION {s}.broker_volume(names text, of_sector text, OUT brokers bigint, OUT volume numeric)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT count(*), sum(v) INTO brokers, volume FROM (
        SELECT b.name, sum(r.quantity * r.bid_price) AS v
        FROM {s}.sector AS g JOIN {s}.industry AS i ON i.sector_id = g.id JOIN {s}.company AS c ON c.industry_id = i.id
        JOIN {s}.security AS y ON y.company_id = c.id JOIN {s}.trade_request AS r ON r.symbol = y.symbol
        JOIN {s}.broker AS b ON b.id = r.broker_id
        WHERE g.name = of_sector AND b.name = ANY (string_to_array(names, ','))
        GROUP BY b.name ORDER BY v DESC) AS of_brokers;
END $$;

CREATE FUNCTION {s}.customer_position(of_customer int, of_code text, which int,
    OUT accounts bigint, OUT total numeric, OUT steps bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    owner {s}.customer;
BEGIN
    IF of_code <> '' THEN
        SELECT * INTO STRICT owner FROM {s}.customer WHERE tax_code = of_code;
    ELSE
        SELECT * INTO STRICT owner FROM {s}.customer WHERE id = of_customer;
    END IF;
    SELECT count(*), sum(balance + held) INTO accounts, total FROM (
        SELECT a.id, a.balance, coalesce(sum(h.quantity * l.price), 0) AS held
        FROM {s}.customer_account AS a LEFT JOIN {s}.holding_summary AS h ON h.account_id = a.id
        LEFT JOIN {s}.last_trade AS l ON l.symbol = h.symbol
        WHERE a.customer_id = owner.id GROUP BY a.id, a.balance ORDER BY held LIMIT 10) AS of_accounts;
    IF which >= 0 THEN
        SELECT count(s.name) INTO steps
        FROM (SELECT id FROM {s}.trade WHERE account_id = owner.id * 10 + which ORDER BY at DESC LIMIT 10) AS t
        JOIN {s}.trade_history AS h ON h.trade_id = t.id JOIN {s}.status_type AS s ON s.id = h.status;
    END IF;
END $$;

CREATE FUNCTION {s}.market_watch(of_customer int, of_account int, of_industry text, back int,
    OUT securities int, OUT change numeric)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    since date := {day} - back / 5 * 7 - back % 5;
    symbols text[]; old_value numeric; new_value numeric;
BEGIN
    IF of_customer > 0 THEN
        symbols := ARRAY(SELECT w.symbol FROM {s}.watch_list AS l JOIN {s}.watch_item AS w ON w.list_id = l.id
            WHERE l.customer_id = of_customer);
    ELSIF of_account > 0 THEN
        symbols := ARRAY(SELECT h.symbol FROM {s}.holding_summary AS h WHERE h.account_id = of_account);
    ELSE
        symbols := ARRAY(SELECT y.symbol FROM {s}.industry AS i JOIN {s}.company AS c ON c.industry_id = i.id
            JOIN {s}.security AS y ON y.company_id = c.id WHERE i.name = of_industry);
    END IF;
    securities := cardinality(symbols);
    SELECT sum(d.close * y.shares), sum(l.price * y.shares) INTO old_value, new_value
    FROM unnest(symbols) AS w(symbol) JOIN {s}.security AS y ON y.symbol = w.symbol
    JOIN {s}.last_trade AS l ON l.symbol = w.symbol JOIN {s}.daily_market AS d ON d.symbol = w.symbol AND d.day = since;
    change := CASE WHEN old_value > 0 THEN 100 * (new_value / old_value - 1) ELSE 0 END;
END $$;

CREATE FUNCTION {s}.security_detail(wanted text, back int, days int, with_texts int,
    OUT company text, OUT competitors bigint, OUT quarters numeric, OUT prices numeric, OUT letters bigint, OUT price numeric)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    since date := {day} - back / 5 * 7 - back % 5;
    y {s}.security; place text;
BEGIN
    SELECT * INTO STRICT y FROM {s}.security WHERE symbol = wanted;
    SELECT c.name || ' ' || c.chief || ' ' || c.description, a.line_1 || z.town || b.line_1 || e.description
    INTO STRICT company, place
    FROM {s}.company AS c JOIN {s}.address AS a ON a.id = c.address_id JOIN {s}.zip_code AS z ON z.code = a.zip_code
    JOIN {s}.exchange AS e ON e.id = y.exchange_id JOIN {s}.address AS b ON b.id = e.address_id
    WHERE c.id = y.company_id;
    SELECT count(o.name || i.name) INTO competitors
    FROM {s}.company_competitor AS k JOIN {s}.company AS o ON o.id = k.competitor_id
    JOIN {s}.industry AS i ON i.id = k.industry_id WHERE k.company_id = y.company_id;
    SELECT sum(f.revenue + f.earned + f.assets) INTO quarters FROM {s}.financial AS f WHERE f.company_id = y.company_id;
    SELECT sum(d.close) INTO prices FROM (SELECT close FROM {s}.daily_market
        WHERE symbol = wanted AND day >= since ORDER BY day LIMIT days) AS d;
    SELECT l.price INTO STRICT price FROM {s}.last_trade AS l WHERE l.symbol = wanted;
    IF with_texts = 1 THEN
        SELECT sum(length(n.item)) INTO letters FROM {s}.news_link AS x JOIN {s}.news_item AS n ON n.id = x.news_id
        WHERE x.company_id = y.company_id;
    ELSE
        SELECT sum(length(n.headline) + length(n.summary)) INTO letters
        FROM {s}.news_link AS x JOIN {s}.news_item AS n ON n.id = x.news_id WHERE x.company_id = y.company_id;
    END IF;
END $$;

CREATE FUNCTION {s}.trade_details(numbers bigint[], OUT seen bigint, OUT amount numeric, OUT cash numeric, OUT last timestamp)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT count(k.name), sum(s.amount + t.bid_price), sum(c.amount) INTO seen, amount, cash
    FROM unnest(numbers) AS n(id) JOIN {s}.trade AS t ON t.id = n.id JOIN {s}.trade_type AS k ON k.id = t.kind
    LEFT JOIN {s}.settlement AS s ON s.trade_id = t.id LEFT JOIN {s}.cash_transaction AS c ON c.trade_id = t.id;
    SELECT max(h.at) INTO last FROM unnest(numbers) AS n(id) JOIN {s}.trade_history AS h ON h.trade_id = n.id;
END $$;

CREATE FUNCTION {s}.trades_of_account(of_account int, from_s int) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(SELECT f.id FROM (SELECT t.id FROM {s}.trade AS t WHERE t.account_id = of_account
        AND t.at >= {opened} + make_interval(secs => from_s) ORDER BY t.at LIMIT 20) AS f ORDER BY f.id);
END $$;

CREATE FUNCTION {s}.trades_of_security(of_symbol text, from_s int) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(SELECT f.id FROM (SELECT t.id FROM {s}.trade AS t WHERE t.symbol = of_symbol
        AND t.at >= {opened} + make_interval(secs => from_s) ORDER BY t.at LIMIT 20) AS f ORDER BY f.id);
END $$;

CREATE FUNCTION {s}.lookup_trades(numbers text, OUT seen bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    seen := (SELECT d.seen FROM {s}.trade_details(string_to_array(numbers, ',')::bigint[]) AS d);
END $$;

CREATE FUNCTION {s}.lookup_account(of_account int, from_s int, OUT seen bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    seen := (SELECT d.seen FROM {s}.trade_details({s}.trades_of_account(of_account, from_s)) AS d);
END $$;

CREATE FUNCTION {s}.lookup_security(of_symbol text, from_s int, OUT seen bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    seen := (SELECT d.seen FROM {s}.trade_details({s}.trades_of_security(of_symbol, from_s)) AS d);
END $$;

CREATE FUNCTION {s}.lookup_holding(of_account int, from_s int, OUT seen bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    first bigint;
BEGIN
    SELECT t.id INTO first FROM {s}.trade AS t
    WHERE t.account_id = of_account AND t.at >= {opened} + make_interval(secs => from_s) ORDER BY t.at LIMIT 1;
    SELECT count(h.quantity_after) INTO seen FROM (SELECT o.holding_trade_id FROM {s}.holding_history AS o
        WHERE o.trade_id = first) AS lot JOIN {s}.holding_history AS h ON h.holding_trade_id = lot.holding_trade_id;
END $$;

CREATE FUNCTION {s}.trade_status(of_account int, OUT seen bigint, OUT letters bigint, OUT names text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT count(*), sum(length(s.name) + length(k.name) + length(y.name) + length(e.name)) INTO seen, letters
    FROM (SELECT * FROM {s}.trade WHERE account_id = of_account ORDER BY at DESC LIMIT 50) AS t
    JOIN {s}.status_type AS s ON s.id = t.status JOIN {s}.trade_type AS k ON k.id = t.kind
    JOIN {s}.security AS y ON y.symbol = t.symbol JOIN {s}.exchange AS e ON e.id = y.exchange_id;
    SELECT c.first_name || ' ' || c.last_name || ' ' || b.name INTO STRICT names
    FROM {s}.customer_account AS a JOIN {s}.customer AS c ON c.id = a.customer_id JOIN {s}.broker AS b ON b.id = a.broker_id
    WHERE a.id = of_account;
END $$;

-- Trade order; it estimates what the trade will come to, and takes it back where that is asked for.
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

-- Trade result and market feed. The rows that most sessions want come last.
CREATE FUNCTION {s}.trade_result(number bigint, cents int, OUT money numeric)
LANGUAGE plpgsql AS $$
DECLARE
    t record; a record; lot record; sells boolean; closed int; change int; remaining int; at_price numeric(8,2) := cents / 100.0;
    gain numeric := 0; taxes numeric := 0; paid numeric; total int;
BEGIN
    SELECT o.account_id, o.symbol, o.kind, o.quantity, o.is_cash, o.is_lifo, o.charge, o.status INTO STRICT t
    FROM {s}.trade AS o WHERE o.id = number FOR NO KEY UPDATE;
    IF t.status <> 2 THEN
        RAISE EXCEPTION 'trade % is not at the market', number USING ERRCODE = 'AS003';
    END IF;
    -- Who holds the account holds what is in it, too.
    SELECT o.customer_id, o.broker_id, o.tax_status INTO STRICT a
    FROM {s}.customer_account AS o WHERE o.id = t.account_id FOR NO KEY UPDATE;
    sells := t.kind IN (2, 4, 5);
    change := CASE WHEN sells THEN -t.quantity ELSE t.quantity END;
    remaining := change;
    FOR lot IN SELECT h.trade_id, h.price, h.quantity FROM {s}.holding AS h
        WHERE h.account_id = t.account_id AND h.symbol = t.symbol
        ORDER BY CASE WHEN t.is_lifo THEN -h.trade_id ELSE h.trade_id END
    LOOP
        EXIT WHEN remaining = 0 OR sign(lot.quantity) = sign(remaining);
        closed := least(abs(lot.quantity), abs(remaining)) * sign(remaining);
        INSERT INTO {s}.holding_history VALUES (lot.trade_id, number, lot.quantity, lot.quantity + closed);
        IF lot.quantity + closed = 0 THEN
            DELETE FROM {s}.holding WHERE trade_id = lot.trade_id;
        ELSE
            UPDATE {s}.holding SET quantity = lot.quantity + closed WHERE trade_id = lot.trade_id;
        END IF;
        gain := gain - closed * (at_price - lot.price);
        remaining := remaining - closed;
    END LOOP;
    IF remaining <> 0 THEN
        INSERT INTO {s}.holding VALUES (number, t.account_id, t.symbol, localtimestamp, at_price, remaining);
        INSERT INTO {s}.holding_history VALUES (number, number, 0, remaining);
    END IF;
    INSERT INTO {s}.holding_summary AS h VALUES (t.account_id, t.symbol, change)
    ON CONFLICT (account_id, symbol) DO UPDATE SET quantity = h.quantity + excluded.quantity RETURNING h.quantity INTO total;
    IF total = 0 THEN
        DELETE FROM {s}.holding_summary WHERE account_id = t.account_id AND symbol = t.symbol;
    END IF;
    IF gain > 0 AND a.tax_status > 0 THEN
        SELECT round(gain * sum(r.rate), 2) INTO taxes
        FROM {s}.customer_tax_rate AS x JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id WHERE x.customer_id = a.customer_id;
    END IF;
    SELECT round(t.quantity * at_price * r.rate / 100, 2) INTO STRICT paid
    FROM {s}.customer AS c, {s}.security AS y, {s}.commission_rate AS r
    WHERE c.id = a.customer_id AND y.symbol = t.symbol AND r.tier = c.tier AND r.kind = t.kind
        AND r.exchange_id = y.exchange_id AND r.from_quantity <= t.quantity AND r.to_quantity >= t.quantity;
    money := -change * at_price - t.charge - paid - CASE WHEN a.tax_status = 1 THEN taxes ELSE 0 END;
    UPDATE {s}.trade SET status = 3, at = localtimestamp, price = at_price, commission = paid, tax = taxes WHERE id = number;
    INSERT INTO {s}.trade_history VALUES (number, localtimestamp, 3);
    INSERT INTO {s}.settlement VALUES (number, CASE WHEN t.is_cash THEN 'Cash Account' ELSE 'Margin' END, current_date + 2, money);
    IF t.is_cash THEN
        UPDATE {s}.customer_account SET balance = balance + money WHERE id = t.account_id;
        INSERT INTO {s}.cash_transaction VALUES (number, localtimestamp, money,
            CASE WHEN sells THEN 'Sold ' ELSE 'Bought ' END || t.quantity || ' of ' || t.symbol);
    END IF;
    UPDATE {s}.broker SET trades = trades + 1, commissions = commissions + paid WHERE id = a.broker_id;
END $$;

CREATE FUNCTION {s}.market_feed(symbols text, cents text, quantities text, OUT sent text)
LANGUAGE plpgsql AS $$
DECLARE
    tick record; request record; now_price numeric(8,2);
BEGIN
    sent := '';
    FOR tick IN SELECT * FROM unnest(string_to_array(symbols, ','), string_to_array(cents, ',')::int[],
        string_to_array(quantities, ',')::int[]) AS told(symbol, cents, quantity)
    LOOP
        now_price := tick.cents / 100.0;
        -- Who holds the price of a security holds what waits for it, too.
        UPDATE {s}.last_trade SET price = now_price, volume = volume + tick.quantity, at = localtimestamp
        WHERE symbol = tick.symbol;
        FOR request IN DELETE FROM {s}.trade_request AS r WHERE r.symbol = tick.symbol
            AND ((r.kind IN (3, 5) AND r.bid_price >= now_price) OR (r.kind = 4 AND r.bid_price <= now_price))
            RETURNING r.trade_id, r.quantity
        LOOP
            UPDATE {s}.trade SET status = 2, at = localtimestamp WHERE id = request.trade_id;
            INSERT INTO {s}.trade_history VALUES (request.trade_id, localtimestamp, 2);
            sent := sent || request.trade_id || ',' || tick.symbol || ',' || request.quantity || ',' || tick.cents || ';';
        END LOOP;
    END LOOP;
END $$;

-- Corrections of trades, and care of data.
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

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

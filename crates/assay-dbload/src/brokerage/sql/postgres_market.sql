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

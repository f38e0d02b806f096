-- The statements of all transactions, in the words that products share. `{numbers}` are twenty trades, `{names}` forty brokers.

-- What customers and brokers only read.

--: broker_volume(sector text)
SELECT count(*), cast(sum(v) * 100 AS {long}) FROM (SELECT b.name, sum(r.quantity * r.bid_price) AS v
    FROM {s}.sector AS g JOIN {s}.industry AS i ON i.sector_id = g.id JOIN {s}.company AS c ON c.industry_id = i.id
    JOIN {s}.security AS y ON y.company_id = c.id JOIN {s}.trade_request AS r ON r.symbol = y.symbol
    JOIN {s}.broker AS b ON b.id = r.broker_id WHERE g.name = :sector AND b.name IN ({names}) GROUP BY b.name
    ORDER BY v DESC) AS of_brokers;

--: owner_of_code(code text)
SELECT id FROM {s}.customer WHERE tax_code = :code;

--: owner(customer)
SELECT id FROM {s}.customer WHERE id = :customer;

--: accounts(customer)
SELECT count(*), cast(sum(balance + held) * 100 AS {long}) FROM (SELECT a.id, a.balance,
    coalesce(sum(h.quantity * l.price), 0) AS held FROM {s}.customer_account AS a
    LEFT JOIN {s}.holding_summary AS h ON h.account_id = a.id LEFT JOIN {s}.last_trade AS l ON l.symbol = h.symbol
    WHERE a.customer_id = :customer GROUP BY a.id, a.balance ORDER BY held LIMIT 10) AS of_accounts;

--: steps(account)
SELECT count(s.name) FROM (SELECT id FROM {s}.trade WHERE account_id = :account ORDER BY at DESC LIMIT 10) AS t
    JOIN {s}.trade_history AS h ON h.trade_id = t.id JOIN {s}.status_type AS s ON s.id = h.status;

--: watch_list(customer, since)
{worth} FROM {s}.watch_list AS o JOIN {s}.watch_item AS w ON w.list_id = o.id {prices} WHERE o.customer_id = :customer;

--: watch_account(account, since)
{worth} FROM {s}.holding_summary AS w {prices} WHERE w.account_id = :account;

--: watch_industry(industry text, since)
{worth} FROM {s}.industry AS i JOIN {s}.company AS c ON c.industry_id = i.id
    JOIN {s}.security AS w ON w.company_id = c.id {prices} WHERE i.name = :industry;

--: company(symbol text)
SELECT concat(c.name, ' ', c.chief, ' ', c.description), concat(a.line_1, z.town, b.line_1, e.description)
    FROM {s}.security AS y JOIN {s}.company AS c ON c.id = y.company_id JOIN {s}.address AS a ON a.id = c.address_id
    JOIN {s}.zip_code AS z ON z.code = a.zip_code JOIN {s}.exchange AS e ON e.id = y.exchange_id
    JOIN {s}.address AS b ON b.id = e.address_id WHERE y.symbol = :symbol;

--: competitors(symbol text)
SELECT count(concat(o.name, i.name)) FROM {s}.security AS y
    JOIN {s}.company_competitor AS k ON k.company_id = y.company_id JOIN {s}.company AS o ON o.id = k.competitor_id
    JOIN {s}.industry AS i ON i.id = k.industry_id WHERE y.symbol = :symbol;

--: quarters(symbol text)
SELECT cast(sum(f.revenue + f.earned + f.assets) * 100 AS {long}) FROM {s}.security AS y
    JOIN {s}.financial AS f ON f.company_id = y.company_id WHERE y.symbol = :symbol;

--: prices(symbol text, since, days)
SELECT cast(sum(d.close) * 100 AS {long}) FROM (SELECT close FROM {s}.daily_market WHERE symbol = :symbol
    AND day >= {since} ORDER BY day LIMIT :days) AS d;

--: last_price(symbol text)
SELECT cast(price * 100 AS {long}) FROM {s}.last_trade WHERE symbol = :symbol;

--: texts(symbol text)
SELECT cast(sum(length(n.item)) AS {long}) FROM {s}.security AS y
    JOIN {s}.news_link AS x ON x.company_id = y.company_id JOIN {s}.news_item AS n ON n.id = x.news_id
    WHERE y.symbol = :symbol;

--: headlines(symbol text)
SELECT cast(sum(length(n.headline) + length(n.summary)) AS {long}) FROM {s}.security AS y
    JOIN {s}.news_link AS x ON x.company_id = y.company_id JOIN {s}.news_item AS n ON n.id = x.news_id
    WHERE y.symbol = :symbol;

--: trades_of_account(account, moment)
SELECT t.id FROM {s}.trade AS t WHERE t.account_id = :account AND t.at >= {moment} ORDER BY t.at LIMIT 20;

--: trades_of_security(symbol text, moment)
SELECT t.id FROM {s}.trade AS t WHERE t.symbol = :symbol AND t.at >= {moment} ORDER BY t.at LIMIT 20;

--: details()
SELECT count(k.name), sum(s.amount + t.bid_price), sum(c.amount) FROM {s}.trade AS t
    JOIN {s}.trade_type AS k ON k.id = t.kind LEFT JOIN {s}.settlement AS s ON s.trade_id = t.id
    LEFT JOIN {s}.cash_transaction AS c ON c.trade_id = t.id WHERE t.id IN ({numbers});

--: last_steps()
SELECT max(h.at) FROM {s}.trade_history AS h WHERE h.trade_id IN ({numbers});

--: what_became(account, moment)
SELECT count(h.quantity_after) FROM (SELECT t.id FROM {s}.trade AS t WHERE t.account_id = :account
    AND t.at >= {moment} ORDER BY t.at LIMIT 1) AS f JOIN {s}.holding_history AS o ON o.trade_id = f.id
    JOIN {s}.holding_history AS h ON h.holding_trade_id = o.holding_trade_id;

--: status(account)
SELECT count(*), cast(sum(length(s.name) + length(k.name) + length(y.name) + length(e.name)) AS {long}) FROM (SELECT *
    FROM {s}.trade WHERE account_id = :account ORDER BY at DESC LIMIT 50) AS t
    JOIN {s}.status_type AS s ON s.id = t.status JOIN {s}.trade_type AS k ON k.id = t.kind
    JOIN {s}.security AS y ON y.symbol = t.symbol JOIN {s}.exchange AS e ON e.id = y.exchange_id;

--: status_names(account)
SELECT concat(c.first_name, ' ', c.last_name, ' ', b.name) FROM {s}.customer_account AS a
    JOIN {s}.customer AS c ON c.id = a.customer_id JOIN {s}.broker AS b ON b.id = a.broker_id WHERE a.id = :account;

-- Orders.

--: account(account)
SELECT o.customer_id, o.broker_id, o.tax_status, c.tier, c.tax_code, cast(o.balance * 100 AS {long}), b.name
    FROM {s}.customer_account AS o JOIN {s}.customer AS c ON c.id = o.customer_id
    JOIN {s}.broker AS b ON b.id = o.broker_id WHERE o.id = :account;

--: permission(account, code text, last text, first text)
SELECT 1 FROM {s}.account_permission WHERE account_id = :account AND tax_code = :code AND last_name = :last
    AND first_name = :first;

--: security(symbol text)
SELECT s.symbol, s.exchange_id, cast(l.price * 100 AS {long}) FROM {s}.security AS s
    JOIN {s}.last_trade AS l ON l.symbol = s.symbol WHERE s.symbol = :symbol;

--: security_of(company text, issue text)
SELECT s.symbol, s.exchange_id, cast(l.price * 100 AS {long}) FROM {s}.company AS c
    JOIN {s}.security AS s ON s.company_id = c.id JOIN {s}.last_trade AS l ON l.symbol = s.symbol
    WHERE c.name = :company AND s.issue = :issue;

--: lots(account, symbol text)
SELECT h.trade_id, cast(h.price * 100 AS {long}), h.quantity FROM {s}.holding AS h WHERE h.account_id = :account
    AND h.symbol = :symbol ORDER BY h.trade_id;

--: tax_rate(customer)
SELECT cast(sum(r.rate) * 10000 AS {long}) FROM {s}.customer_tax_rate AS x
    JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id WHERE x.customer_id = :customer;

--: rate(tier, kind, exchange, quantity)
SELECT cast(r.rate * 100 AS {long}) FROM {s}.commission_rate AS r WHERE r.tier = :tier AND r.kind = :kind
    AND r.exchange_id = :exchange AND r.from_quantity <= :quantity AND r.to_quantity >= :quantity;

--: charge(kind, tier)
SELECT cast(c.amount * 100 AS {long}) FROM {s}.charge AS c WHERE c.kind = :kind AND c.tier = :tier;

--: assets(account)
SELECT cast(coalesce(sum(h.quantity * l.price), 0) * 100 AS {long}) FROM {s}.holding_summary AS h
    JOIN {s}.last_trade AS l ON l.symbol = h.symbol WHERE h.account_id = :account;

--: order(status, kind, is_cash, symbol text, quantity, bid, account, executor text, charge, commission, tax, is_lifo)
INSERT INTO {s}.trade VALUES ({next number}, localtimestamp(6), :status, :kind, :is_cash = 1, :symbol, :quantity,
    :bid / 100.0, :account, :executor, NULL, :charge / 100.0, :commission / 100.0, :tax / 100.0, :is_lifo = 1);

--: ordered(status)
INSERT INTO {s}.trade_history VALUES ({number}, localtimestamp(6), :status);

--: request(kind, symbol text, quantity, bid, broker)
INSERT INTO {s}.trade_request VALUES ({number}, :kind, :symbol, :quantity, :bid / 100.0, :broker);

--: number()
SELECT cast({number} AS {long});

-- What a trade comes to.

--: trade(trade)
SELECT t.account_id, t.symbol, t.kind, t.quantity, CASE WHEN t.is_cash THEN 1 ELSE 0 END, CASE WHEN t.is_lifo THEN 1
    ELSE 0 END, cast(t.charge * 100 AS {long}), t.status FROM {s}.trade AS t WHERE t.id = :trade {lock};

-- Who holds the account holds what is in it, too.
--: account_of_trade(trade)
SELECT o.customer_id, o.broker_id, o.tax_status FROM {s}.customer_account AS o WHERE o.id = (SELECT account_id
    FROM {s}.trade WHERE id = :trade) {lock};

--: lots_of_trade(trade)
SELECT h.trade_id, cast(h.price * 100 AS {long}), h.quantity FROM {s}.trade AS t
    JOIN {s}.holding AS h ON h.account_id = t.account_id AND h.symbol = t.symbol WHERE t.id = :trade
    ORDER BY h.trade_id {fresh};

--: tax_rate_of_trade(trade)
SELECT cast(sum(r.rate) * 10000 AS {long}) FROM {s}.trade AS t JOIN {s}.customer_account AS o ON o.id = t.account_id
    JOIN {s}.customer_tax_rate AS x ON x.customer_id = o.customer_id JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id
    WHERE t.id = :trade;

--: rate_of_trade(trade)
SELECT cast(r.rate * 100 AS {long}) FROM {s}.trade AS t JOIN {s}.customer_account AS o ON o.id = t.account_id
    JOIN {s}.customer AS c ON c.id = o.customer_id JOIN {s}.security AS y ON y.symbol = t.symbol
    JOIN {s}.commission_rate AS r ON r.tier = c.tier AND r.kind = t.kind AND r.exchange_id = y.exchange_id
    WHERE t.id = :trade AND r.from_quantity <= t.quantity AND r.to_quantity >= t.quantity;

--: lot_changed(lot, trade, before, after)
INSERT INTO {s}.holding_history VALUES (:lot, :trade, :before, :after);

--: lot_gone(lot)
DELETE FROM {s}.holding WHERE trade_id = :lot;

--: lot_left(lot, quantity)
UPDATE {s}.holding SET quantity = :quantity WHERE trade_id = :lot;

--: lot(trade, account, symbol text, price, quantity)
INSERT INTO {s}.holding VALUES (:trade, :account, :symbol, localtimestamp(6), :price / 100.0, :quantity);

--: held_first(account, symbol text, quantity)
INSERT INTO {s}.holding_summary VALUES (:account, :symbol, :quantity);

--: held_now(account, symbol text, quantity)
UPDATE {s}.holding_summary SET quantity = quantity + :quantity WHERE account_id = :account AND symbol = :symbol;

--: held_none(account, symbol text)
DELETE FROM {s}.holding_summary WHERE account_id = :account AND symbol = :symbol;

--: completed(trade, price, commission, tax)
UPDATE {s}.trade SET status = 3, at = localtimestamp(6), price = :price / 100.0, commission = :commission / 100.0,
    tax = :tax / 100.0 WHERE id = :trade;

--: passed(trade, status)
INSERT INTO {s}.trade_history VALUES (:trade, localtimestamp(6), :status);

--: settled(trade, kind text, amount)
INSERT INTO {s}.settlement VALUES (:trade, :kind, current_date + interval '2' day, :amount / 100.0);

--: paid(account, amount)
UPDATE {s}.customer_account SET balance = balance + :amount / 100.0 WHERE id = :account;

--: cash(trade, amount, name text)
INSERT INTO {s}.cash_transaction VALUES (:trade, localtimestamp(6), :amount / 100.0, :name);

--: earned(broker, commission)
UPDATE {s}.broker SET trades = trades + 1, commissions = commissions + :commission / 100.0 WHERE id = :broker;

-- Prices of the market.

-- Who holds the price of a security holds what waits for it, too.
--: price(symbol text, price, quantity)
UPDATE {s}.last_trade SET price = :price / 100.0, volume = volume + :quantity, at = localtimestamp(6)
    WHERE symbol = :symbol;

--: reached(symbol text, price)
SELECT r.trade_id, r.quantity FROM {s}.trade_request AS r WHERE r.symbol = :symbol AND ((r.kind IN (3, 5)
    AND r.bid_price >= :price / 100.0) OR (r.kind = 4 AND r.bid_price <= :price / 100.0)) ORDER BY r.trade_id {fresh};

--: request_gone(trade)
DELETE FROM {s}.trade_request WHERE trade_id = :trade;

--: submitted(trade)
UPDATE {s}.trade SET status = 2, at = localtimestamp(6) WHERE id = :trade;

-- Corrections of trades.

--: executor()
UPDATE {s}.trade SET executor = CASE WHEN executor LIKE '% X %' THEN replace(executor, ' X ', ' ')
    ELSE replace(executor, ' ', ' X ') END WHERE id IN ({numbers});

--: cash_type()
UPDATE {s}.settlement SET cash_type = CASE cash_type WHEN 'Cash Account' THEN 'Cash' WHEN 'Cash' THEN 'Cash Account'
    WHEN 'Margin' THEN 'Margin Account' ELSE 'Margin' END WHERE trade_id IN ({numbers});

--: cash_name()
UPDATE {s}.cash_transaction SET name = CASE WHEN name LIKE '% shares of %' THEN replace(name, ' shares of ', ' of ')
    ELSE replace(name, ' of ', ' shares of ') END WHERE trade_id IN ({numbers});

-- Care of data.

--: care_permission(customer)
UPDATE {s}.account_permission SET may = CASE may WHEN '0001' THEN '0011' ELSE '0001' END
    WHERE account_id = :customer * 10 AND may <> '0000';

--: care_address(customer)
UPDATE {s}.address SET line_2 = CASE line_2 WHEN 'Floor 2' THEN 'Floor 22' ELSE 'Floor 2' END
    WHERE id = (SELECT address_id FROM {s}.customer WHERE id = :customer);

--: care_rating(symbol text)
UPDATE {s}.company SET rating = CASE rating WHEN 'AAA' THEN 'AA' ELSE 'AAA' END WHERE id = (SELECT company_id
    FROM {s}.security WHERE symbol = :symbol);

--: care_email(customer)
UPDATE {s}.customer SET email_2 = CASE WHEN email_2 LIKE '%@office.example' THEN replace(email_2, '@office', '@desk')
    ELSE replace(email_2, '@desk', '@office') END WHERE id = :customer;

--: care_taxes(customer)
UPDATE {s}.customer_tax_rate SET tax_rate_id = tax_rate_id % 20 + 1 WHERE customer_id = :customer
    AND tax_rate_id <= 20;

--: care_volume(symbol text, since)
UPDATE {s}.daily_market SET volume = volume + 1 WHERE symbol = :symbol AND day > {since};

--: care_exchange()
UPDATE {s}.exchange SET description = CASE WHEN description LIKE '%.' THEN trim(TRAILING '.' FROM description)
    ELSE concat(description, '.') END;

--: care_quarters(symbol text)
UPDATE {s}.financial SET begun = CASE WHEN extract(day FROM begun) % 2 = 0 THEN begun - interval '1' day
    ELSE begun + interval '1' day END WHERE company_id = (SELECT company_id FROM {s}.security WHERE symbol = :symbol);

--: news_of(symbol text)
SELECT x.news_id FROM {s}.security AS y JOIN {s}.news_link AS x ON x.company_id = y.company_id
    WHERE y.symbol = :symbol ORDER BY x.news_id;

--: care_news(news)
UPDATE {s}.news_item SET published = published + interval '1' day WHERE id = :news;

--: care_listing(symbol text)
UPDATE {s}.security SET listed = listed + interval '1' day WHERE symbol = :symbol;

--: care_tax_names(rate)
UPDATE {s}.tax_rate SET name = CASE WHEN name LIKE 'Tax %' THEN replace(name, 'Tax ', 'Duty ') ELSE replace(name,
    'Duty ', 'Tax ') END WHERE id = :rate;

--: watched(list, symbol text)
SELECT min(symbol), count(CASE WHEN symbol = :symbol THEN 1 END) FROM {s}.watch_item WHERE list_id = :list;

--: care_watched(list, symbol text, first text)
UPDATE {s}.watch_item SET symbol = :symbol WHERE list_id = :list AND symbol = :first;

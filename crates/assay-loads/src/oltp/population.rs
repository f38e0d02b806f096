//! The rows of the nine tables in the order in which they are stored, part by part, so that parts
//! can be made at once.
//!
//! Source: TPC-C, clause 4.3.3.1.

use super::choice::{Choices, Constants};
use super::text::{digits, last_name, letters, maybe_original, some_letters, zip};
use super::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, ORDERS, OltpRules};
use crate::sink::RowSink;
use assay_stats::permutation::Permutation;
use assay_stats::random::{Random, mix};

/// The nine tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OltpTable {
    /// One row a warehouse.
    Warehouse,
    /// Ten a warehouse.
    District,
    /// 3,000 a district.
    Customer,
    /// One a payment; one a customer after loading.
    History,
    /// Orders that are not delivered.
    NewOrder,
    /// 3,000 a district after loading.
    Orders,
    /// 5 to 15 an order.
    OrderLine,
    /// 100,000, the same for all warehouses.
    Item,
    /// 100,000 a warehouse.
    Stock,
}

/// Rows that are made in one piece: those of a warehouse, or all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationPart {
    /// Their table.
    pub table: OltpTable,
    /// Their warehouse, from 1; 0 for items.
    pub warehouse: u32,
}

impl OltpTable {
    /// All, the largest first, so that who loads them at once ends at once.
    pub const ALL: [Self; 9] = [
        Self::OrderLine,
        Self::Stock,
        Self::Customer,
        Self::Orders,
        Self::History,
        Self::NewOrder,
        Self::Item,
        Self::District,
        Self::Warehouse,
    ];

    /// A number of its own.
    fn number(self) -> u64 {
        (0..).zip(Self::ALL).find(|(_, table)| *table == self).map_or(0, |(number, _)| number)
    }

    /// Its name on the server.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warehouse => "warehouse",
            Self::District => "district",
            Self::Customer => "customer",
            Self::History => "history",
            Self::NewOrder => "new_order",
            Self::Orders => "orders",
            Self::OrderLine => "order_line",
            Self::Item => "item",
            Self::Stock => "stock",
        }
    }
}

/// Rows of a table after loading; of order lines the mean, because an order has 5 to 15.
pub fn rows_of(table: OltpTable, warehouses: u32) -> u64 {
    let each = match table {
        OltpTable::Warehouse => 1,
        OltpTable::District => DISTRICTS,
        OltpTable::Customer | OltpTable::History => DISTRICTS * CUSTOMERS,
        OltpTable::NewOrder => DISTRICTS * (ORDERS - FIRST_NEW_ORDER + 1),
        OltpTable::Orders => DISTRICTS * ORDERS,
        OltpTable::OrderLine => DISTRICTS * ORDERS * 10,
        OltpTable::Stock => ITEMS,
        OltpTable::Item => return u64::from(ITEMS),
    };
    u64::from(each) * u64::from(warehouses)
}

/// The parts of a table.
pub fn parts(table: OltpTable, warehouses: u32) -> Vec<PopulationPart> {
    match table {
        OltpTable::Item => vec![PopulationPart { table, warehouse: 0 }],
        _ => (1..=warehouses).map(|warehouse| PopulationPart { table, warehouse }).collect(),
    }
}

/// Writes the rows of a part; `now_us` is the moment of loading. Says how many there were.
pub fn fill_part(
    rules: &OltpRules,
    part: PopulationPart,
    now_us: i64,
    to: &mut (impl RowSink + ?Sized),
) -> u64 {
    let number = (u64::from(part.warehouse) << 8) | part.table.number();
    let constants = Constants::of_loading(rules.seed);
    let mut making = Making {
        choices: Choices::new(rules.seed, number, constants),
        room: [b' '; 512],
        warehouse: part.warehouse,
        seed: rules.seed,
        now_us,
        rows: 0,
        to,
    };
    making.fill(part.table);
    making.rows
}

/// Lines of an order: every table that needs it finds the same.
fn lines_of(seed: u64, warehouse: u32, district: u32, order: u32) -> u32 {
    let place = (u64::from(warehouse) << 32) | (u64::from(district) << 16) | u64::from(order);
    5 + u32::try_from(mix(seed ^ mix(place)) % 11).unwrap_or(0)
}

/// The rows of one part on their way.
struct Making<'a, S: ?Sized> {
    choices: Choices,
    room: [u8; 512],
    warehouse: u32,
    seed: u64,
    now_us: i64,
    rows: u64,
    to: &'a mut S,
}

impl<S: RowSink + ?Sized> Making<'_, S> {
    fn fill(&mut self, table: OltpTable) {
        match table {
            OltpTable::Warehouse => self.warehouse(),
            OltpTable::Item => (1..=ITEMS).for_each(|item| self.item(item)),
            OltpTable::Stock => (1..=ITEMS).for_each(|item| self.stock(item)),
            _ => (1..=DISTRICTS).for_each(|district| self.of_district(table, district)),
        }
    }

    fn of_district(&mut self, table: OltpTable, district: u32) {
        match table {
            OltpTable::District => self.district(district),
            OltpTable::Customer => {
                (1..=CUSTOMERS).for_each(|number| self.customer(district, number));
            }
            OltpTable::History => (1..=CUSTOMERS).for_each(|number| self.history(district, number)),
            OltpTable::Orders => self.orders(district),
            OltpTable::OrderLine => {
                (1..=ORDERS).for_each(|order| self.order_lines(district, order));
            }
            OltpTable::NewOrder => {
                (FIRST_NEW_ORDER..=ORDERS).for_each(|order| self.new_order(district, order));
            }
            OltpTable::Warehouse | OltpTable::Item | OltpTable::Stock => {}
        }
    }

    fn row(&mut self, columns: u16) {
        self.rows += 1;
        self.to.row(columns);
    }

    fn random(&mut self) -> &mut Random {
        self.choices.random()
    }

    fn some_text(&mut self, low: u64, high: u64) {
        let text = some_letters(self.choices.random(), &mut self.room, low, high);
        self.to.text(text);
    }

    fn maybe_original(&mut self) {
        let text = maybe_original(self.choices.random(), &mut self.room);
        self.to.text(text);
    }

    fn address(&mut self) {
        self.some_text(10, 20);
        self.some_text(10, 20);
        self.some_text(10, 20);
        self.some_text(2, 2);
        let zip = zip(self.random());
        self.to.text(&zip);
    }

    /// A tax of 0 to 20%.
    fn tax(&mut self) {
        let tax = self.choices.uniform(0, 2000);
        self.to.decimal(i64::from(tax), 4);
    }

    fn warehouse(&mut self) {
        self.row(9);
        self.to.integer(self.warehouse);
        self.some_text(6, 10);
        self.address();
        self.tax();
        self.to.decimal(30_000_000, 2);
    }

    fn district(&mut self, district: u32) {
        self.row(11);
        self.to.integer(district);
        self.to.integer(self.warehouse);
        self.some_text(6, 10);
        self.address();
        self.tax();
        self.to.decimal(3_000_000, 2);
        self.to.integer(ORDERS + 1);
    }

    fn customer(&mut self, district: u32, number: u32) {
        self.row(21);
        self.to.integer(number);
        self.to.integer(district);
        self.to.integer(self.warehouse);
        self.some_text(8, 16);
        self.to.text(b"OE");
        let name = if number <= 1000 { number - 1 } else { self.choices.last_name() };
        self.to.text(last_name(name).as_bytes());
        self.address();
        let phone = digits::<16>(self.random());
        self.to.text(&phone);
        self.to.time(self.now_us);
        let is_bad = self.choices.percent(10);
        self.to.text(if is_bad { b"BC" } else { b"GC" });
        self.to.decimal(5_000_000, 2);
        let discount = self.choices.uniform(0, 5000);
        self.to.decimal(i64::from(discount), 4);
        self.to.decimal(-1000, 2);
        self.to.decimal(1000, 2);
        self.to.integer(1);
        self.to.integer(0);
        self.some_text(300, 500);
    }

    fn history(&mut self, district: u32, number: u32) {
        self.row(8);
        for value in [number, district, self.warehouse, district, self.warehouse] {
            self.to.integer(value);
        }
        self.to.time(self.now_us);
        self.to.decimal(1000, 2);
        self.some_text(12, 24);
    }

    /// Every customer of the district has exactly one order, in random order.
    fn orders(&mut self, district: u32) {
        let key = mix(self.seed ^ (u64::from(self.warehouse) << 8) ^ u64::from(district));
        let customers = Permutation::new(u64::from(CUSTOMERS), key);
        for order in 1..=ORDERS {
            self.row(8);
            self.to.integer(order);
            self.to.integer(district);
            self.to.integer(self.warehouse);
            let customer = customers.image(u64::from(order - 1)) + 1;
            self.to.integer(u32::try_from(customer).unwrap_or(1));
            self.to.time(self.now_us);
            if order < FIRST_NEW_ORDER {
                let carrier = self.choices.uniform(1, 10);
                self.to.integer(carrier);
            } else {
                self.to.null();
            }
            self.to.integer(lines_of(self.seed, self.warehouse, district, order));
            self.to.integer(1);
        }
    }

    fn order_lines(&mut self, district: u32, order: u32) {
        let is_delivered = order < FIRST_NEW_ORDER;
        for line in 1..=lines_of(self.seed, self.warehouse, district, order) {
            self.row(10);
            let item = self.choices.uniform(1, ITEMS);
            for value in [order, district, self.warehouse, line, item, self.warehouse] {
                self.to.integer(value);
            }
            if is_delivered {
                self.to.time(self.now_us);
            } else {
                self.to.null();
            }
            self.to.integer(5);
            let amount = if is_delivered { 0 } else { self.choices.uniform(1, 999_999) };
            self.to.decimal(i64::from(amount), 2);
            self.some_text(24, 24);
        }
    }

    fn new_order(&mut self, district: u32, order: u32) {
        self.row(3);
        for value in [order, district, self.warehouse] {
            self.to.integer(value);
        }
    }

    fn item(&mut self, item: u32) {
        self.row(5);
        self.to.integer(item);
        let image = self.choices.uniform(1, 10_000);
        self.to.integer(image);
        self.some_text(14, 24);
        let price = self.choices.uniform(100, 10_000);
        self.to.decimal(i64::from(price), 2);
        self.maybe_original();
    }

    fn stock(&mut self, item: u32) {
        self.row(17);
        self.to.integer(item);
        self.to.integer(self.warehouse);
        let quantity = self.choices.uniform(10, 100);
        self.to.integer(quantity);
        for _ in 0..DISTRICTS {
            letters(self.choices.random(), &mut self.room[..24]);
            self.to.text(&self.room[..24]);
        }
        for _ in 0..3 {
            self.to.integer(0);
        }
        self.maybe_original();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps whole numbers and counts the rest.
    #[derive(Default)]
    struct SeenRows {
        rows: Vec<Vec<i64>>,
        columns: u16,
        texts: Vec<Vec<u8>>,
    }

    impl SeenRows {
        fn push(&mut self, value: i64) {
            self.rows.last_mut().unwrap().push(value);
        }
    }

    impl RowSink for SeenRows {
        fn row(&mut self, columns: u16) {
            assert!(
                self.rows.is_empty()
                    || self.rows.last().unwrap().len() == usize::from(self.columns)
            );
            self.columns = columns;
            self.rows.push(Vec::new());
        }
        fn integer(&mut self, value: u32) {
            self.push(i64::from(value));
        }
        fn decimal(&mut self, value: i64, _: u16) {
            self.push(value);
        }
        fn text(&mut self, value: &[u8]) {
            self.texts.push(value.to_vec());
            self.push(i64::try_from(value.len()).unwrap());
        }
        fn time(&mut self, unix_us: i64) {
            self.push(unix_us);
        }
        fn null(&mut self) {
            self.push(i64::MIN);
        }
        fn long(&mut self, value: i64) {
            self.push(value);
        }
        fn flag(&mut self, value: bool) {
            self.push(i64::from(value));
        }
        fn date(&mut self, unix_days: i32) {
            self.push(i64::from(unix_days));
        }
        fn is_full(&self) -> bool {
            false
        }
    }

    fn seen(table: OltpTable) -> SeenRows {
        let mut seen = SeenRows::default();
        let warehouse = if table == OltpTable::Item { 0 } else { 3 };
        let rows =
            fill_part(&OltpRules::default(), PopulationPart { table, warehouse }, 7, &mut seen);
        assert_eq!(rows, u64::try_from(seen.rows.len()).unwrap());
        seen
    }

    #[test]
    fn tables_have_the_cardinalities_of_the_specification() {
        for table in OltpTable::ALL {
            let (rows, wanted) = (seen(table).rows.len(), rows_of(table, 1));
            if table == OltpTable::OrderLine {
                let apart = wanted.abs_diff(u64::try_from(rows).unwrap());
                // Three standard deviations of 30,000 counts of 5 to 15.
                assert!(apart < 1700, "{rows}");
            } else {
                assert_eq!(u64::try_from(rows).unwrap(), wanted, "{table:?}");
            }
        }
        assert_eq!(rows_of(OltpTable::OrderLine, 2), 600_000);
        assert_eq!((parts(OltpTable::Item, 5).len(), parts(OltpTable::Stock, 5).len()), (1, 5));
    }

    #[test]
    fn orders_and_their_lines_agree_and_every_customer_orders_once() {
        let (orders, lines) = (seen(OltpTable::Orders).rows, seen(OltpTable::OrderLine).rows);
        let counted: i64 = orders.iter().map(|order| order[6]).sum();
        assert_eq!(counted, i64::try_from(lines.len()).unwrap());
        let mut customers: Vec<i64> = orders[..3000].iter().map(|order| order[3]).collect();
        customers.sort_unstable();
        assert_eq!(customers, (1..=3000).collect::<Vec<i64>>());
        for order in &orders {
            assert_eq!(order[5] == i64::MIN, order[0] >= 2101);
            assert!((5..=15).contains(&order[6]));
        }
        for line in &lines {
            assert_eq!(line[6] == i64::MIN, line[0] >= 2101);
            assert_eq!(line[8] == 0, line[0] < 2101);
        }
    }

    #[test]
    fn customers_have_names_credit_and_texts_as_specified() {
        let seen = seen(OltpTable::Customer);
        // Of the first thousand of a district each has a name of its own.
        let texts_a_row = 11;
        let name = |row: usize| seen.texts[row * texts_a_row + 2].clone();
        let mut names: Vec<Vec<u8>> = (0..1000).map(name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 1000);
        let bad = seen.texts.iter().filter(|text| text.as_slice() == b"BC").count();
        assert!((2800..3200).contains(&bad), "{bad}");
        assert!(seen.rows.iter().all(|row| (300..=500).contains(&row[20]) && row[16] == -1000));
    }

    #[test]
    fn equal_seeds_give_equal_rows_and_others_do_not() {
        assert_eq!(seen(OltpTable::District).texts, seen(OltpTable::District).texts);
        let mut other = SeenRows::default();
        let rules = OltpRules { seed: 2, ..OltpRules::default() };
        fill_part(
            &rules,
            PopulationPart { table: OltpTable::District, warehouse: 3 },
            7,
            &mut other,
        );
        assert_ne!(seen(OltpTable::District).texts, other.texts);
    }
}

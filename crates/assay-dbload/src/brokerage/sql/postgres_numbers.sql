CREATE SEQUENCE {s}.trade_numbers START WITH {next} CACHE 20;

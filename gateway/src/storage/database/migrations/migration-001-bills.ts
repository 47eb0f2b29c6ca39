/** Vendors' bills and their comparison with the ledger. They outlive the provider that they name. */
export const billTables: readonly string[] = [
  `create table bill_days (
  provider text not null,
  day text not null,
  source text not null,
  read_at bigint not null,
  bill text not null,
  lines text not null,
  state text not null,
  our_nano_usd bigint not null,
  their_nano_usd bigint not null,
  estimated_nano_usd bigint not null,
  foreign_nano_usd bigint not null,
  differing_nano_usd bigint not null,
  constraint bill_days_pk primary key (provider, day)
)`,
  "create index bill_days_day on bill_days (day)",

  // The last reading of each provider's bill.
  `create table bill_readings (
  provider text not null primary key,
  read_at bigint not null,
  problem text
)`,

  `create table bill_decisions (
  id text not null primary key,
  provider text not null,
  day text not null,
  model text not null,
  usage_class text not null,
  action text not null,
  amount_nano_usd bigint not null,
  note text not null,
  actor text not null,
  at bigint not null
)`,
  "create index bill_decisions_day on bill_decisions (provider, day)",
];

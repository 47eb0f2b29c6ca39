/** Units and words in dates, lengths and sizes; numbers themselves are written by `Intl`. */
export const formats = {
  justNow: "just now",
  less: "< {amount}",
  ms: "{count} ms",
  s: "{count} s",
  minutes: "{count} min",
  hours: "{count} h",
  days: "{count} d",
  pair: "{big} {small}",
  utcDay: "{day} UTC",
} as const;

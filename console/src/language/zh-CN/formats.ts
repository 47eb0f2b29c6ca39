import type { formats as english } from "../en/formats.ts";
import type { Translation } from "../texts.ts";

export const formats: Translation<typeof english> = {
  justNow: "刚刚",
  less: "< {amount}",
  ms: "{count} 毫秒",
  s: "{count} 秒",
  minutes: "{count} 分钟",
  hours: "{count} 小时",
  days: "{count} 天",
  pair: "{big} {small}",
  utcDay: "{day}（UTC）",
};

/**
 * alerts: rules on budgets, errors, latency, providers, spend, tokens and deliveries; the alerts that they open; messages to channels;
 * the inbox. The SQL of its tables. One process at a time evaluates rules. While the database is unavailable nothing is evaluated or
 * sent, and both continue afterwards. A channel that fails is retried a bounded number of times, without delaying others.
 */
export { type AlertLog, type AlertViewer, createAlertLog, type StoredAlert } from "./alert-log.ts";
export { AlertSender } from "./alert-sender.ts";
export {
  type AlertSettings,
  type ChannelFields,
  createAlertSettings,
  type RuleFields,
  type StoredChannel,
  type StoredRule,
} from "./alert-settings.ts";
export { AlertWatch } from "./alert-watch.ts";
export type { AlertMessage } from "./messages.ts";

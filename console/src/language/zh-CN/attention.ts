import type { attention as english } from "../en/attention.ts";
import type { Translation } from "../texts.ts";

export const attention: Translation<typeof english> = {
  title: "需要关注",
  clear: "一切正常",
  clearHelp: "已检查：{checks}。",
  openAlerts: "{count, plural, other {# 条告警}}",
  checking: "正在检查…",
  more: "{count, plural, other {还有 # 项同类问题}}",
  severity: {
    critical: "严重",
    warning: "警告",
    notice: "提示",
  },
  check: {
    gateway: "网关",
    providers: "提供商",
    errors: "错误率",
    budgets: "预算",
    certificates: "证书",
    keys: "即将到期的密钥",
    tokens: "管理令牌",
    prices: "价格",
    webhooks: "告警与 Webhook",
    alerts: "未解决的告警",
  },
  finding: {
    budget_exhausted:
      "{name} 的{period, select, day {每日} week {每周} month {每月} other {}}预算 {limit} 已用 {used}，其调用会被拒绝。",
    budget_refusing:
      "{name} 的{period, select, day {每日} week {每周} month {每月} other {}}预算 {limit} 已用 {used}，可能超出余额的调用会被拒绝。",
    budget_near:
      "{name} 的{period, select, day {每日} week {每周} month {每月} other {}}预算 {limit} 已用 {used}（{percent}%）。",
    error_spike:
      "{name} 最近 {requests, number} 个请求中有 {failed, number} 个失败：{percent}%，平时为 {usual_percent}%。",
    error_spike_others:
      "其他较小的工作区最近 {requests, number} 个请求中有 {failed, number} 个失败：{percent}%，平时为 {usual_percent}%。",
    provider_down: "{name} 不可用。多次失败后，已停止向它发送调用。",
    provider_unhealthy: "{name} 正在恢复，或其部分部署不可用。",
    provider_errors: "过去一小时，{name} 的 {attempts, number} 次尝试中有 {failed, number} 次失败。",
    key_expiring: "密钥 {name} 将在 {hours}后到期。",
    admin_token_expiring: "管理令牌 {name} 将在 {hours}后到期。",
    certificate_expired: "{name} 的证书已过期。",
    certificate_expiring: "{name} 的证书将在 {hours}后到期。",
    model_unpriced: "{name} 没有价格，过去 7 天收到 {requests, number} 个请求。",
    models_unpriced_unused: "有 {count, number} 个近期没有请求的模型没有价格。",
    price_list_old: "价目表已有 {days} 天未更新，可能缺少新价格。",
    alert_failed: "告警无法发送到渠道 {name}。",
    webhooks_failed: "过去 24 小时有 {count, number} 个 Webhook 未能送达。",
    alert_open: "{text}",
    ledger_unwritten: "无法写入请求记录，{entries, number} 条记录正在等待。",
    ledger_behind: "请求记录写入滞后：{entries, number} 条记录正在等待。",
    gateway_problem: "网关报告：{problem}。",
    process_silent: "{name} 上的进程没有心跳。",
    check_failed: "无法检查：{check}。请重试，或查看网关日志。",
  },
  fix: {
    cause: "查看原因",
    limit: "修改限额",
    requests: "查看请求",
    provider: "打开提供商",
    key: "打开密钥",
    tokens: "打开令牌",
    price: "设置价格",
    models: "查看模型",
    priceList: "更新价目表",
    alert: "打开告警",
    task: "打开任务",
    system: "打开系统",
  },
};

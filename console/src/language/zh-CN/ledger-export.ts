import type { ledgerExport as english } from "../en/ledger-export.ts";
import type { Translation } from "../texts.ts";

export const ledgerExport: Translation<typeof english> = {
  title: "账本导出",
  help: "将账本复制到 S3 兼容的存储桶：每小时结束十分钟后，以 JSON Lines 格式复制该小时的请求记录；或每天结束一天后，以 FOCUS 格式复制该天的费用。更改在五分钟内生效。",
  on: "复制到存储桶",
  onHelp: "从保留的最早记录开始。网关不会删除存储桶中的任何内容。",
  bucket: "存储桶",
  bucketHelp: "必须已存在。",
  bucketMissing: "请输入存储桶名称。",
  bucketWrong: "请使用 2 到 63 个字母、数字、点、连字符和下划线。",
  prefix: "前缀",
  prefixHelp: "加在每个对象名称之前，例如 sluice/。可留空。",
  prefixWrong: "只能使用字母、数字和 !_.'()*/=-。",
  region: "地域",
  regionHelp: "留空：us-east-1。",
  regionWrong: "请输入地域，例如 eu-central-1。",
  endpoint: "服务地址",
  endpointHelp: "Amazon S3 以外的存储的地址，例如 http://minio:9000。",
  endpointWrong: "请输入完整地址，例如 http://minio:9000。",
  format: "格式",
  formatHelp: "FOCUS 用于财务团队的费用报表。",
  formats: { jsonl: "JSON Lines（按小时）", focus: "FOCUS（按天）", both: "两者" },
  keys: "访问密钥",
  keysOf: {
    own: "来自网关环境变量 SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID 及其密钥。",
    blobs: "来自网关环境变量 SLUICE_S3_ACCESS_KEY_ID 及其密钥。如设置 SLUICE_LEDGER_EXPORT_…，则优先使用。",
  },
  keysMissing: "未设置",
  keysMissingHelp:
    "请在网关的环境变量中设置 SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID 和 SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY，然后重启网关。在此之前不会复制任何内容。",
  copied: "已复制到",
  none: "尚未复制",
};

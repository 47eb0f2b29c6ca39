import type { people as english } from "../en/people.ts";
import type { Translation } from "../texts.ts";

export const people: Translation<typeof english> = {
  keys: {
    label: "如何处理{count, plural, other {这些密钥}}",
    loading: "正在加载此人的 API 密钥…",
    made: "{name} 创建或拥有 {count, plural, other {<b># 个使用中的 API 密钥</b>}}。应用可能仍在使用，任何持有密钥内容的人也能使用。",
    tooMany: "{name} 创建或拥有的 API 密钥超过 {count, number} 个。请通过 API 或命令行统一处理。",
    all: "{count, plural, other {全部}}{action, select, transfer {转交} disable {停用} other {吊销}}",
    one: "{action, select, transfer {转交} disable {停用} other {吊销}}",
    unchosen: "请选择…",
    of: "如何处理 {name}",
    relation: "{relation, select, both {由其创建并归其所有} owned {归其所有} other {由其创建}}",
    state: "{state, select, disabled {已停用} expired {已过期} without_secret {无密钥内容} other {使用中}}",
    lastUsed: "最近使用：{time}",
    neverUsed: "从未",
    revokeHelp: "立即永久失效。",
    disableHelp: "立即失效，直到工作区管理员重新启用。",
    transferHelp: "继续有效。如离开者可能持有密钥内容，请轮换。",
    transferByAdmin: "其中有密钥的用量计在你名下。请联系工作区管理员转交。",
    newOwner: "{workspace} 中的新所有者",
    newOwnerPlaceholder: "选择人员",
    noHeir: "没有其他成员能在此创建密钥",
    person: "{name}（{email}）",
  },
};

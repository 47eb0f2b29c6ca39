import type { people as english } from "../en/people.ts";
import type { Translation } from "../texts.ts";

export const people: Translation<typeof english> = {
  keys: {
    label: "如何处理这些密钥",
    made: "{name} 拥有 {count, plural, other {<b># 个 API 密钥</b>}}：{names}。应用可能仍在使用，任何持有密钥内容的人也能使用。",
    madeMany:
      "{name} 拥有<b>超过 {count, plural, other {#}} 个 API 密钥</b>：{names}。应用可能仍在使用，任何持有密钥内容的人也能使用。",
    names: "{names} 等另外 {more, plural, other {#}} 个",
    revoke: "吊销",
    revokeHelp: "立即永久失效。",
    disable: "停用",
    disableHelp: "立即失效，直到工作区管理员重新启用。",
    transfer: "转交",
    transferHelp: "继续有效。如离开者可能持有密钥内容，请轮换。",
    transferByAdmin: "其中有密钥的费用记在你名下。请联系工作区管理员转交。",
    newOwner: "新所有者",
    newOwnerPlaceholder: "选择人员",
    person: "{name}（{email}）",
  },
};

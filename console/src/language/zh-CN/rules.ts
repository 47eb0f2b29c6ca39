import type { Translation } from "../catalogue.ts";
import type { rules as english } from "../en/rules.ts";

export const rules: Translation<typeof english> = {
  why: {
    matches: "匹配：{found}。",
    decided_before: "匹配，但规则 {rule} 已经决定了这一项。",
    no_claim: "没有声明 {claim}。",
    left_out: "{claim} 过长，签发方没有发送。请让它只发送与此处有关的组。",
    not_plain: "{claim} 既不是文本，也不是文本列表。",
    is_list: "{claim} 是列表，请使用“包含”或“符合形式”。",
    other_value: "{claim} 为 {found}。",
    not_in_list: "{claim} 为 {found}：其中没有匹配的值。",
    no_workspace: "匹配，但没有工作区 {workspace}。",
    no_group: "匹配，但 {workspace} 中没有组 {group}。",
  },
};

import type { scim as english } from "../en/scim.ts";
import type { Translation } from "../texts.ts";

export const scim: Translation<typeof english> = {
  marks: {
    label: "目录",
    made: "由目录（SCIM）于 {when} 创建。姓名、邮箱和能否登录由目录决定，请在目录中修改。你手动授予的权限会保留。",
    connected: "于 {when} 与目录（SCIM）关联。目录决定其姓名并可停用该用户；角色和密钥保持此处的设置。",
    claims: "权限来自 {account}",
    claimsHelp:
      "{account} 最近一次提供声明的时间为 {when}。规则据此授予权限：不能手动设为低于规则授予的权限，但可以更高。",
  },
  title: "通过 SCIM 同步用户和组",
  help: "由企业目录（Microsoft Entra ID、Okta 等）在此创建用户、维护其所属组，并在用户离职时立即停用其访问。",
  baseUrl: "Base URL",
  copyBaseUrl: "复制 Base URL",
  users: "用户",
  usersAll: "{users}",
  usersSome: "{users}（其中 {inactive} 个已停用）",
  groups: "组",
  tokens: "令牌",
  lastRequest: "上次请求",
  never: "尚无",
  create: "创建令牌",
  createTitle: "创建 SCIM 令牌",
  only: "仅供目录使用的令牌",
  onlyHelp: "它只能通过 SCIM 创建、更改和停用用户。创建者不再是管理员时令牌即失效，因此请用不受目录管理的账号创建。",
  nameHelp: "使用它的目录。",
  nameExample: "Entra ID",
  lifeHelp: "令牌过期后，目录将无法停用任何用户。请在过期前更换。",
  grant: "仅 SCIM",
  where: "可在<tokens>管理令牌</tokens>中吊销。",
  secret: "令牌 {name}",
  enter: "请将这两项填入目录的预配设置。",
};

import type { Translation } from "../catalogue.ts";
import type { access as english } from "../en/access.ts";

export const access: Translation<typeof english> = {
  change: {
    title: "如何更改",
    onlyAdministrator: "仅管理员可以操作。",
    onlyRole:
      "{role, select, member {该工作区的成员可以操作。} admin {该工作区的管理员可以操作。} other {该工作区的所有者可以操作。}}",
    enableWorkspace: "启用该工作区。",
    openWorkspace: "打开工作区",
    workspaceModels: "将 {model} 或匹配它的模式加入工作区的模型。分组和密钥也须允许。",
    editWorkspace: "编辑工作区",
    groupModels: "将 {model} 或匹配它的模式加入分组的模型，或将密钥移到其他分组。",
    editGroup: "编辑分组",
    keyModels: "将 {model} 或匹配它的模式加入密钥的模型，或允许密钥使用分组内全部模型。",
    editKey: "编辑密钥",
    enableKey: "启用该密钥。",
    openKey: "打开密钥",
    extendKey: "延后密钥的过期时间，或设为永不过期。",
    revokedKey: "已吊销的密钥无法恢复，请创建新的密钥。",
    createKey: "创建密钥",
    rotateKey: "轮换密钥以生成密钥内容。",
    deployModel: "为模型添加部署，或启用已有部署。",
    openModel: "打开模型",
  },
  panel: {
    title: "访问权限说明",
    subject: "密钥 <b>{key}</b>，模型 <b>{model}</b>",
  },
  fallback: {
    title: "此模型失败时",
    allowed: "{model}：接着尝试",
    denied: "{model}：跳过，密钥不能调用",
  },
  step: {
    state: "状态",
    noPatterns: "未单独设置：允许分组内的全部模型。",
    noMatch: "没有模式匹配 {model}：",
    match: "由 <code>{pattern}</code> 允许",
    deployments: "部署",
    deploymentCount: "{count, plural, =0 {没有启用的部署。} other {# 个启用的部署。}}",
    neutral: "无规则",
  },
  yes: "允许",
  no: "不允许",
  mark: {
    yes: "允许",
    workspace: "工作区不允许",
    group: "分组不允许",
    key: "密钥不允许",
    out: "密钥或工作区未启用",
    unserved: "允许，但没有部署提供服务",
  },
  denied:
    "{reason, select, workspace_disabled {不允许：工作区已停用} workspace_models {不允许：工作区} group_models {不允许：分组} key_models {不允许：密钥} key_disabled {不允许：密钥已停用} key_expired {不允许：密钥已过期} key_revoked {不允许：密钥已吊销} key_without_secret {不允许：无密钥内容} no_deployment {不可用：无部署} other {不允许}}",
  reason: {
    yes: "密钥可以调用。",
    workspaceDisabled: "工作区已停用，其所有密钥均不可用。",
    workspaceModels: "工作区不允许此模型。",
    groupModels: "密钥所属分组不允许此模型。",
    keyModels: "密钥不允许此模型。",
    keyDisabled: "密钥已停用。",
    keyExpired: "密钥已过期。",
    keyRevoked: "密钥已吊销。",
    noSecret: "密钥尚无内容，无法使用。",
    noDeployment: "已允许访问，但没有启用的部署提供此模型。",
  },
};

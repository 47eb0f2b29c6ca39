import type { connect as english } from "../en/connect.ts";
import type { Translation } from "../texts.ts";

export const connect: Translation<typeof english> = {
  title: "接入",
  description: "将编程助手、应用和 CI 接入本网关。",
  addresses: "Base URL",
  addressesHelp: "多数程序只需填写其中一个地址和一个 API 密钥。全部接口见 <docs>API 参考</docs>。",
  openai: "OpenAI SDK 及兼容程序",
  anthropic: "Anthropic SDK 和 Claude Code",
  copyOpenai: "复制 OpenAI SDK 的 Base URL",
  copyAnthropic: "复制 Anthropic SDK 的 Base URL",
  agents: "以你的身份登录编程助手",
  agentsHelp:
    "无需 API 密钥：你在本控制台确认验证码，适用你自己的限额和预算。<code>sluice</code> 是网关的命令行工具，可向管理员索取。<code>sluice connect</code> 会先显示将要改动的内容并征得你的同意。",
  plainHttp: "编程助手只能通过 https 或在网关本机登录。请让管理员配置 https，或使用 API 密钥。",
  viaLogin: "统一管理的电脑：/login",
  viaLoginByHand: "手动设置：Claude Code 的 managed-settings.json",
  viaLoginThen: "然后在 Claude Code 中输入",
  viaHelper: "仅为自己设置：在终端中执行",
  viaHelperByHand: "手动设置（先执行 sluice login）：{file}",
  keys: "使用 API 密钥",
  keysHelp: "密钥从环境变量 SLUICE_API_KEY 读取。新密钥只显示一次，届时会附上已填入密钥的代码片段。",
  createKey: "创建密钥",
  model: "模型",
  fit: "适合 {agent}",
  others: "其他模型",
  modelHelp: "最适合 {agent} 的模型排在前面：无需转换，或只需少量转换。",
  guide: "{program} 使用指南",
  reference: "API 参考",
  ci: "CI",
  ciHelp:
    "CI 任务使用服务令牌：一种有过期时间、没有所有者的密钥。由工作区的管理员在 <keys>API 密钥</keys>中创建（创建密钥，勾选“这是服务令牌”），并以 SLUICE_TOKEN 为名存为机密变量。",
  github: "GitHub Actions：.github/workflows 中的工作流",
  gitlab: "GitLab：.gitlab-ci.yml，SLUICE_TOKEN 设为隐藏变量",
};

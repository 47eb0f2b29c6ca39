import type { firstRun as english } from "../en/first-run.ts";
import type { Translation } from "../texts.ts";

export const firstRun: Translation<typeof english> = {
  stepOf: "第 {place} 步（共 {count} 步）：{title}。",
  here: {
    provider: "选择类型并填写密钥，随后会立即测试。",
    model: "选择应用可以调用的模型。",
    key: "密钥只显示一次，请及时复制。",
    call: "消息已经写好，直接发送即可。",
  },
  viewRequests: "查看请求",
  done: {
    title: "第一个请求已完成。",
    help: "“请求”页面列出每个请求：如何路由、耗时多久、花费多少。",
  },
  label: "快速开始",
  hide: "隐藏快速开始",
  prompt: "打个招呼，并用一句话告诉我模型网关是做什么的。",
  provider: {
    demo: "目前由内置演示回答。请添加你在 OpenAI、Anthropic 或其他模型平台的账号。",
    help: "你在 OpenAI、Anthropic 或其他模型平台的账号。",
    title: "添加提供商",
    action: "添加提供商",
  },
  model: {
    title: "选择模型",
    help: "应用调用的名称。点几下即可导入提供商的模型。",
  },
  key: {
    exists: "已有一个，网关首次启动时已打印。请为每个应用创建一个。",
    help: "每个应用一个，限额和预算都设在密钥上。",
    title: "创建 API 密钥",
    action: "创建密钥",
  },
  call: {
    title: "发送第一个请求",
    help: "在体验场中一键发送，或使用命令行、SDK 或编程助手。",
    action: "打开体验场",
  },
};

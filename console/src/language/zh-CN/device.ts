import type { device as english } from "../en/device.ts";
import type { Translation } from "../texts.ts";

export const device: Translation<typeof english> = {
  title: "登录设备",
  description: "允许显示验证码的编程助手或程序以你的身份调用模型。",
  code: "验证码",
  codeHelp: "与设备上显示的一致。请只输入你自己申请的验证码。",
  codeExample: "BCDF-GHJK",
  next: "继续",
  compare: "设备上显示的是这个验证码吗？",
  compareHelp: "有人可能会把自己设备的链接发给你。如果验证码不一致，或者不是你刚刚发起的，请拒绝。",
  program: "程序",
  unknownProgram: "未说明",
  address: "设备的 IP 地址",
  started: "发起时间",
  workspace: "工作区",
  workspaceHelp: "适用该工作区的模型、限额和预算，费用计入该工作区。",
  noWorkspace: "你在任何工作区都没有创建密钥的权限。请让管理员将你加为成员。",
  approve: "验证码一致，登录该设备",
  deny: "拒绝",
  approved: "设备已登录",
  approvedHelp: "几秒后它即可以你的身份调用模型。你可以关闭此页面。如需让设备退出登录，请打开个人资料。",
  denied: "已拒绝该设备",
  deniedHelp: "它没有得到任何权限。如果不是你发起的，请告知管理员。",
  profile: "打开个人资料",
  another: "输入其他验证码",
};

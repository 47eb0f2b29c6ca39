import type { session as english } from "../en/session.ts";
import type { Translation } from "../texts.ts";

export const session: Translation<typeof english> = {
  code: {
    backupHelp: "输入设置两步验证时显示的备用码之一，每个只能使用一次。",
    help: "输入验证器应用中 Sluice 当前显示的六位验证码。",
    backup: "备用码",
    label: "验证码",
    restart: "重新开始",
    useApp: "改用验证器应用",
    useBackup: "使用备用码",
  },
  signIn: "登录",
  password: {
    label: "密码",
    help: "至少 {min, plural, other {# 个字符}}。几个单词比符号更容易记住。",
    short: "{missing, plural, other {还需要 # 个字符。}}",
    repeat: "重复密码",
    differ: "两次输入的密码不一致。",
  },
  problem: {
    noAddress: "该账号的登录页面没有有效的 URL。",
    passkeyExists: "此设备或密码管理器中已有该控制台的通行密钥。",
    passkeyDismissed: "未使用通行密钥：对话框已关闭或超时。",
    passkeyAddress: "通行密钥只能在通过域名（https 或 localhost）打开控制台时使用。",
    passkeyFailed: "浏览器无法使用通行密钥：{message}",
  },
  or: "或",
  passkey: "使用通行密钥继续",
  continueWith: "使用 {name} 继续",
  noMethod: "此浏览器不支持网关提供的任何登录方式，请换用其他浏览器。",
  signedInThere: "已在那里登录，继续",
  email: "邮箱地址",
};

import type { storedObjects as english } from "../en/stored-objects.ts";
import type { Translation } from "../texts.ts";

export const storedObjects: Translation<typeof english> = {
  title: "存储在提供商处",
  help: "提供商为后续请求保留的会话和其他对象，最新的在前，最多 100 个。",
  none: "没有此类对象。",
  id: "ID",
  copyId: "复制 ID",
  kind: "类型",
  kinds: {
    conversation: "会话",
    container: "容器",
    skill: "技能",
    vector_store: "向量库",
  },
  provider: "提供商",
  model: "模型",
  key: "API 密钥",
  created: "创建时间",
  expires: "过期时间",
};

import type { files as english } from "../en/files.ts";
import type { Translation } from "../texts.ts";

export const files: Translation<typeof english> = {
  title: "文件",
  help: "程序上传的文件，用于请求和批处理。网关存储这些文件，并在请求需要时将副本发送给提供商。",
  needsWorkspace: "文件属于工作区。",
  purpose: "用途",
  total: "{count, plural, other {# 个文件}}，{size}",
  quota: "工作区已使用 {used}，共 {quota}",
  columns: {
    name: "名称",
    id: "ID",
    copyId: "复制 ID",
    type: "类型",
    size: "大小",
    key: "API 密钥",
    created: "创建时间",
    expires: "过期时间",
    actions: "操作",
  },
  list: {
    noMatch: "没有匹配的文件",
    none: "暂无文件",
    noneHelp: "只需上传一次 PDF、图片或批处理的行，即可在此工作区的任何请求中通过其 ID 引用：",
    curl: "使用 curl 上传",
  },
  download: {
    short: "下载",
    label: "下载 {name}",
  },
  remove: {
    title: "删除 {name}？",
    run: "删除文件",
    short: "删除",
    label: "删除 {name}",
    help: "此后引用它的请求会失败。它在提供商处的副本也会被删除。此操作无法撤销。",
    done: "文件已删除。",
  },
};

import type { RequestHead } from "#http1/index.ts";

/**
 * The same request by its path, where its target is a whole address: the authority in it counts, and not what `host` says
 * (RFC 9112, 3.2.2).
 */
export function originForm(head: RequestHead): RequestHead {
  if (head.target.startsWith("/")) return head;
  const [, authority, rest = ""] = /^https?:\/\/([^/?]+)(.*)$/i.exec(head.target) ?? [];
  if (authority === undefined) return head;
  const { fields } = head;
  return {
    ...head,
    target: rest.startsWith("/") ? rest : `/${rest}`,
    fields: fields.map((text, index) => (index % 2 === 1 && fields[index - 1] === "host" ? authority : text)),
  };
}

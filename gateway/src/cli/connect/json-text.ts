/**
 * Changes members of a JSON text and nothing else of it: white space, the order of members, numbers as they were written and names that
 * stand twice all stay. The text is known to be a JSON object.
 */

interface Member {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** Sets what stands at `path`; objects on the way there are made. */
export function withMember(text: string, path: readonly string[], value: unknown): string {
  return setIn(text, text.indexOf("{"), path, value);
}

/** Takes out what stands at `path`, if anything does. */
export function withoutMember(text: string, path: readonly string[]): string {
  let open = text.indexOf("{");
  for (const [depth, name] of path.entries()) {
    const { members, close } = membersAt(text, open);
    const at = members.findLastIndex((member) => member.name === name);
    const member = members[at];
    if (member === undefined) return text;
    if (depth < path.length - 1) {
      if (text[member.valueStart] !== "{") return text;
      open = member.valueStart;
      continue;
    }
    const [before, after] = [members[at - 1], members[at + 1]];
    if (before !== undefined) return text.slice(0, before.end) + text.slice(member.end);
    if (after !== undefined) return text.slice(0, member.start) + text.slice(after.start);
    return text.slice(0, open + 1) + text.slice(close);
  }
  return text;
}

function setIn(text: string, open: number, path: readonly string[], value: unknown): string {
  const [name = "", ...inner] = path;
  const { members, close } = membersAt(text, open);
  const known = members.findLast((member) => member.name === name);
  if (known !== undefined && inner.length > 0 && text[known.valueStart] === "{") {
    return setIn(text, known.valueStart, inner, value);
  }
  const written = inner.reduceRight<unknown>((nested, each) => ({ [each]: nested }), value);
  const last = members.at(-1);
  const unit = unitOf(text);
  if (known !== undefined) {
    const json = indented(written, unit, marginAt(text, known.start));
    return text.slice(0, known.valueStart) + json + text.slice(known.end);
  }
  if (last === undefined) {
    const margin = marginAt(text, open);
    const json = indented(written, unit, margin + unit);
    return `${text.slice(0, open)}{\n${margin}${unit}${JSON.stringify(name)}: ${json}\n${margin}}${text.slice(close + 1)}`;
  }
  const lead = /\s*$/.exec(text.slice(0, last.start))?.[0] ?? "";
  const json = indented(written, unit, lead.slice(lead.lastIndexOf("\n") + 1));
  return `${text.slice(0, last.end)},${lead === "" ? " " : lead}${JSON.stringify(name)}: ${json}${text.slice(last.end)}`;
}

function indented(value: unknown, unit: string, margin: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${margin}`);
}

/** What its first member is set in by; two spaces where there is none. */
function unitOf(text: string): string {
  return /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
}

/** The white space that the line begins with where `at` stands. */
function marginAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at) + 1))?.[0] ?? "";
}

function membersAt(text: string, open: number): { readonly members: readonly Member[]; readonly close: number } {
  const members: Member[] = [];
  let at = open + 1;
  for (;;) {
    while (/[\s,]/.test(text[at] ?? "")) at++;
    if (text[at] !== '"') return { members, close: at };
    const start = at;
    at = endOfText(text, at);
    const name = JSON.parse(text.slice(start, at)) as string;
    while (/[\s:]/.test(text[at] ?? "")) at++;
    const valueStart = at;
    at = endOfValue(text, at);
    members.push({ name, start, valueStart, end: at });
  }
}

function endOfText(text: string, open: number): number {
  let at = open + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const letter = text[at] ?? "";
    if (letter === '"') at = endOfText(text, at);
    else {
      if (letter === "{" || letter === "[") depth++;
      else if (letter === "}" || letter === "]") depth--;
      at++;
    }
    // A number or a word ends before what cannot be of it.
  } while (depth > 0 || (/[\w.+-]/.test(text[at - 1] ?? "") && /[\w.+-]/.test(text[at] ?? "")));
  return at;
}

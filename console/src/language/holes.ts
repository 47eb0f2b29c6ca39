import { type MessageFormatElement, TYPE } from "@formatjs/icu-messageformat-parser";

/** For tests: the distinct placeholders and tags of a text (`{name}`, `{count, plural}`, `<link>`), sorted. */
export function holesOf(message: readonly MessageFormatElement[]): string[] {
  const found = new Set<string>();
  const visit = (elements: readonly MessageFormatElement[]) => {
    for (const element of elements) {
      if (element.type === TYPE.argument || element.type === TYPE.number) found.add(`{${element.value}}`);
      if (element.type === TYPE.plural || element.type === TYPE.select) {
        found.add(`{${element.value}}`);
        for (const { value } of Object.values(element.options)) visit(value);
      }
      if (element.type === TYPE.tag) {
        found.add(`<${element.value}>`);
        visit(element.children);
      }
    }
  };
  visit(message);
  return [...found].sort();
}

import { Tabs } from "@mantine/core";
import { CodeBlock } from "./code-block.tsx";
import { type Snippet, type SnippetOptions, snippetsFor } from "./snippet-texts.ts";

/**
 * How to call the gateway with this key and model: curl, the SDKs, coding agents. Without a key they read it from the
 * environment; a key that was just made stands in them as it is.
 */
export function Snippets(options: SnippetOptions) {
  return <SnippetTabs snippets={snippetsFor(options)} />;
}

/** Texts to be pasted, a tab for each program. */
export function SnippetTabs({ snippets }: { readonly snippets: readonly Snippet[] }) {
  return (
    <Tabs defaultValue={snippets[0]?.id ?? null} keepMounted={false} className="snippets">
      <Tabs.List>
        {snippets.map(({ id, title }) => (
          <Tabs.Tab key={id} value={id}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ id, title, parts }) => (
        <Tabs.Panel key={id} value={id} pt="xs">
          {parts.map((part) => (
            <div key={part.where} className="snippet">
              <div className="snippet-where">{part.where}</div>
              <CodeBlock code={part.code} label={`${title}: ${part.where}`} />
            </div>
          ))}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

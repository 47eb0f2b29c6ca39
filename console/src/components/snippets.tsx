import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import { type Snippet, type SnippetOptions, snippetsFor } from "./snippet-texts.ts";

/**
 * Snippets that call the gateway with a key and model: curl, the SDKs, coding agents. They read the key from the environment, unless
 * it was just created: then they contain it.
 */
export function Snippets(options: SnippetOptions) {
  return <SnippetTabs snippets={snippetsFor(options)} />;
}

interface SnippetTabsProps {
  readonly snippets: readonly Snippet[];
  /** The open tab; by default the component keeps its own state. */
  readonly tab?: string;
  readonly onTab?: (id: string) => void;
  /** Content below the snippets of a tab. */
  readonly below?: (id: string) => ReactNode;
}

/** Snippets to paste, with a tab for each program. */
export function SnippetTabs({ snippets, tab, onTab, below }: SnippetTabsProps) {
  const held = tab === undefined ? { defaultValue: snippets[0]?.id ?? null } : { value: tab };
  return (
    <Tabs {...held} onChange={(id) => id !== null && onTab?.(id)} keepMounted={false} className="snippets">
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
          {below !== undefined && <div className="snippet">{below(id)}</div>}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

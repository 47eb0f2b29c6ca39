import { Code, Group, Text } from "@mantine/core";
import { t } from "../language/areas/components.ts";
import { StatusBadge } from "./status-badge.tsx";

interface PatternsTextProps {
  readonly patterns: readonly string[];
  /** Maximum number of patterns shown; the title lists the rest. */
  readonly shown?: number;
}

/** Model patterns or addresses that a key, group or workspace is limited to. */
export function Grant({ enforced, ...patterns }: PatternsTextProps & { readonly enforced: boolean }) {
  if (enforced) return <PatternsText {...patterns} />;
  return (
    <Group gap="xs">
      <PatternsText {...patterns} />
      <StatusBadge status="shadow" tone="off" label={t("components.shadow.badge")} hint={t("components.shadow.help")} />
    </Group>
  );
}

/** Model patterns as read-only text. */
export function PatternsText({ patterns, shown = 6 }: PatternsTextProps) {
  if (patterns.length === 0) return <>{t("components.patterns.none")}</>;
  if (patterns.length === 1 && patterns[0] === "*") return <>{t("components.patterns.all")}</>;
  const more = patterns.slice(shown);
  return (
    <Group gap={4} className="patterns">
      {patterns.slice(0, shown).map((pattern) => (
        <Code key={pattern} className="break" fz="xs">
          {pattern}
        </Code>
      ))}
      {more.length > 0 && (
        <Text size="xs" c="dimmed" component="span" title={more.join(", ")}>
          {t("components.patterns.more", { count: more.length })}
        </Text>
      )}
    </Group>
  );
}

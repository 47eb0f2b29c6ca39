import { Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** Lets a table or chart reach the edges. */
  readonly flush?: boolean;
  /** Of the element, for links to it. */
  readonly id?: string;
  readonly children?: ReactNode;
}

/** A card with a heading, the building block of pages. */
export function Section({ title, description, actions, flush = false, id: anchor, children }: SectionProps) {
  const id = useId();
  return (
    <Paper withBorder component="section" id={anchor} aria-labelledby={id} className="card section">
      <Group justify="space-between" align="flex-start" gap="sm" className="section-head">
        <div>
          <Title order={2} id={id} className="section-title">
            {title}
          </Title>
          {description !== undefined && (
            <Text size="xs" c="dimmed" component="div">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {isDrawn(children) && <div className={flush ? "section-flush" : "section-body"}>{children}</div>}
    </Paper>
  );
}

function isDrawn(children: ReactNode): boolean {
  return children !== undefined && children !== null && children !== false;
}

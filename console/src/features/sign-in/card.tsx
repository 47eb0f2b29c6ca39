import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface CardProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** The card of a page without navigation. */
export function Card({ title, description, foot, children }: CardProps) {
  return (
    <Stack gap="sm">
      <Paper withBorder className="card" p="lg">
        <Stack gap="md">
          <div>
            <Title order={1} className="page-title">
              {title}
            </Title>
            {description !== undefined && (
              <Text size="sm" c="dimmed" component="div" mt={4}>
                {description}
              </Text>
            )}
          </div>
          {children}
        </Stack>
      </Paper>
      {foot !== undefined && (
        <Text size="xs" c="dimmed" component="div" ta="center" px="md">
          {foot}
        </Text>
      )}
    </Stack>
  );
}

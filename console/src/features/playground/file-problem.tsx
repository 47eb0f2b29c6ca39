import { Text } from "@mantine/core";

/** The error of a chosen file, shown below its input. */
export function FileProblem({ problem }: { readonly problem: string | null }) {
  if (problem === null) return null;
  return (
    <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
      {problem}
    </Text>
  );
}

import { Text } from "@mantine/core";

/** What is wrong with a file that was chosen, below where it was. */
export function FileProblem({ problem }: { readonly problem: string | null }) {
  if (problem === null) return null;
  return (
    <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
      {problem}
    </Text>
  );
}

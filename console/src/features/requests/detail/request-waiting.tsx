import { Skeleton, Stack } from "@mantine/core";

export function RequestWaiting() {
  return (
    <Stack gap="lg" aria-busy="true" aria-label="Loading the request">
      <Skeleton height={92} />
      <Skeleton height={180} />
      <Skeleton height={260} />
    </Stack>
  );
}

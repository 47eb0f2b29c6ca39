import { Center, Loader } from "@mantine/core";

export function PageWaiting() {
  return (
    <Center py="xl">
      <Loader size="sm" aria-label="Loading" role="status" />
    </Center>
  );
}

import { Center, Loader } from "@mantine/core";
import { t } from "../language/areas/shell.ts";

export function PageWaiting() {
  return (
    <Center py="xl">
      <Loader size="sm" aria-label={t("shell.loading")} role="status" />
    </Center>
  );
}

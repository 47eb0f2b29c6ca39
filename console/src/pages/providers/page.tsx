import { Text } from "@mantine/core";
import { PageFrame } from "../../parts/page-frame.tsx";

export default function Page() {
  return (
    <PageFrame title="Providers">
      <Text c="dimmed">This page is not in this version yet.</Text>
    </PageFrame>
  );
}

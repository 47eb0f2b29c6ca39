import { Stack, Text } from "@mantine/core";
import { CopyText } from "../../components/copy-button.tsx";
import { t } from "../../language/areas/catalog.ts";
import { useSession } from "../../session/session-context.tsx";

/** Where the vendor of this provider sends webhooks about batches. */
export function WebhookAddress({ provider }: { readonly provider: string }) {
  const { answer } = useSession();
  const address = `${answer.public_url}/v1/batch-callbacks/${provider}`;
  return (
    <Stack gap={2}>
      <Text fz="sm" c="dimmed">
        {t("catalog.provider.webhookAddress")}
      </Text>
      <Text fz="sm" component="div">
        <CopyText value={address} label={t("catalog.provider.copyWebhookAddress")} />
      </Text>
    </Stack>
  );
}

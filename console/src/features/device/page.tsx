import { Stack } from "@mantine/core";
import type { WaitingAgent } from "@sluice/contract";
import { useState } from "react";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/device.ts";
import { useUrlText } from "../../routes/search.ts";
import { CodeForm } from "./code-form.tsx";
import { Decided } from "./decided.tsx";
import { Decision } from "./decision.tsx";

/**
 * The page on which a user approves a device by its code (RFC 8628). A code in the URL is only filled in: the user submits it, compares the
 * device, and decides.
 */
export default function DevicePage() {
  const [waiting, setWaiting] = useState<WaitingAgent | null>(null);
  const [decided, setDecided] = useState<"approved" | "denied" | null>(null);
  const [inAddress] = useUrlText("user_code");
  const [suggested, setSuggested] = useState(inAddress);
  const startAnew = () => {
    setSuggested("");
    setWaiting(null);
    setDecided(null);
  };
  return (
    <PageFrame title={t("device.title")} description={t("device.description")}>
      <Stack maw={520}>
        {decided !== null ? (
          <Decided decided={decided} onAnother={startAnew} />
        ) : waiting === null ? (
          <CodeForm suggested={suggested} onFound={setWaiting} />
        ) : (
          <Decision waiting={waiting} onDecided={setDecided} />
        )}
      </Stack>
    </PageFrame>
  );
}

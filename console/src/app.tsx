import { Alert, Anchor, Container, Loader, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { getStatus } from "./client/call.ts";
import { ProblemAlert } from "./client/problem-alert.tsx";
import { useLoaded } from "./client/use-loaded.ts";
import { Header } from "./header.tsx";
import { forgetKey, keepKey, keptKey } from "./key/kept-key.ts";
import { KeyForm } from "./key/key-form.tsx";
import { SetupForm } from "./setup/setup-form.tsx";
import { Workbench } from "./workbench.tsx";

/** The whole page: set-up when it was opened with a set-up link, else a key, else what the key can do. */
export function App({ setupToken }: { readonly setupToken: string | null }) {
  const status = useLoaded(getStatus);
  const [token, setToken] = useState(setupToken);
  const [key, setKey] = useState(keptKey);

  const takeKey = (secret: string) => {
    keepKey(secret);
    setKey(secret);
  };
  const leave = () => {
    forgetKey();
    setKey(null);
  };

  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Header version={status.value?.version ?? null} onLeave={key === null ? null : leave} />
      <Container component="main" id="content" size="xl" py="lg" px="md">
        <Stack gap="lg">
          {status.loading && status.value === null && <Loader aria-label="Asking the gateway" />}
          {status.problem !== null && <ProblemAlert problem={status.problem} onRetry={status.reload} />}
          {status.value !== null && (
            <SetupPart
              needed={status.value.setup_needed}
              token={token}
              onDone={() => {
                setToken(null);
                status.reload();
              }}
            />
          )}
          {status.value?.demo === true && key !== null && <DemoNote />}
          {!(token !== null && status.value?.setup_needed === true) &&
            (key === null ? <KeyForm onKey={takeKey} /> : <Workbench apiKey={key} onLeave={leave} />)}
        </Stack>
      </Container>
    </>
  );
}

interface SetupPartProps {
  readonly needed: boolean;
  readonly token: string | null;
  readonly onDone: () => void;
}

function SetupPart({ needed, token, onDone }: SetupPartProps) {
  if (needed && token !== null) return <SetupForm token={token} onDone={onDone} />;
  if (needed) {
    return (
      <Alert variant="light" color="yellow" title="There is no administrator yet">
        Open the set-up link that the gateway printed when it started. Until then it stays reachable from this machine
        only.
      </Alert>
    );
  }
  if (token !== null) {
    return (
      <Alert variant="light" title="Set-up is already done">
        A set-up link works once. There is nothing left to do with it.
      </Alert>
    );
  }
  return null;
}

function DemoNote() {
  return (
    <Alert variant="light" title="You are talking to the demo provider">
      <Text size="sm">
        It answers offline and costs nothing. Put a provider's key into the environment or the config file to reach real
        models; the <Anchor href="/docs">API reference</Anchor> shows every call.
      </Text>
    </Alert>
  );
}

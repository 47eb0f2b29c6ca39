import { clientDisconnects } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

clientDisconnects(transcriptionsEndpoint);

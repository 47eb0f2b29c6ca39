import { credentials } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

credentials(transcriptionsEndpoint);

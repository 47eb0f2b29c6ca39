import { unavailable } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

unavailable(transcriptionsEndpoint);

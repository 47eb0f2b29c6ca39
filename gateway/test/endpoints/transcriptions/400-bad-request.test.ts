import { badRequests } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

badRequests(transcriptionsEndpoint);

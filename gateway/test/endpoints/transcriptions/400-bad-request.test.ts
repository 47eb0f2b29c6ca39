import { badRequests } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

badRequests(transcriptionsEndpoint);

import { badRequests } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

badRequests(moderationsEndpoint);

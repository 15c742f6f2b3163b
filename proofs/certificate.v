(** A checker of certificates against deadlock, with its proof.

    The checker reads links, routes and an order of channels. If it accepts:
    - [accepted_leads]: the route of each packet leads along links from its source to its target;
    - [accepted_acyclic]: the channel dependency graph has no circle;
    - [accepted_no_lock]: in no state of the network do packets wait for each other in a circle;
    - [accepted_moves]: in every state with a waiting packet, some packet waits for a channel that
      no packet holds.

    The model is section 3 of docs/router.md, without cycles: a packet holds a set of channels of
    its route, and waits for one channel, the next one of its route. The channel that a packet waits
    for is free, or another packet holds it. Ejection channels are held by no waiting packet. *)

Require Import List Arith Lia Bool ZArith.
Import ListNotations.

(** A channel: its node, its output port (0: ejection) and its VC. Numbers are binary. *)
Definition channel := (N * N * N)%type.
Definition link := (N * N * N)%type.
(** A packet: its source, its target, and its channels; the last one is the ejection. *)
Record packet := { source : N; target : N; channels : list channel }.

Section Checker.

(** [ahead node port]: the node behind a port. [rank c]: the number of a channel in the order. Both
    are tables that the program around the checker looks up; the proof holds for any tables. *)
Variable ahead : N -> N -> option N.
Variable rank : channel -> option N.

(** *** The specification *)

(** A route leads from a node to the target: each channel leaves the node that the channel before
    leads to, by a link, and the last one is the ejection of the target. *)
Inductive leads : N -> N -> list channel -> Prop :=
| leads_here : forall node vc, leads node node [(node, 0%N, vc)]
| leads_on : forall node next port vc rest target,
    port <> 0%N -> ahead node port = Some next -> leads next target rest ->
    leads node target ((node, port, vc) :: rest).

(** A packet may hold the first channel and wait for the second. *)
Inductive follows : channel -> channel -> list channel -> Prop :=
| follows_here : forall a b rest, follows a b (a :: b :: rest)
| follows_later : forall a b c rest, follows a b rest -> follows a b (c :: rest).

Definition depends (packets : list packet) (a b : channel) : Prop :=
  exists p, In p packets /\ follows a b (channels p).

(** *** The checker *)

Fixpoint check_route (node goal : N) (route : list channel) : bool :=
  match route with
  | [] => false
  | (at_, port, vc) :: rest =>
      (at_ =? node)%N &&
      (if (port =? 0)%N
       then (node =? goal)%N && match rest with [] => true | _ => false end
       else match ahead node port with
            | Some next => check_route next goal rest
            | None => false
            end)
  end.

Fixpoint check_rises (before : option N) (route : list channel) : bool :=
  match route with
  | [] => true
  | c :: rest =>
      match rank c with
      | None => false
      | Some here =>
          (match before with None => true | Some b => (b <? here)%N end)
          && check_rises (Some here) rest
      end
  end.

Definition check_packet (p : packet) : bool :=
  check_route (source p) (target p) (channels p) && check_rises None (channels p).

Definition check (packets : list packet) : bool := forallb check_packet packets.

(** *** Routes *)

Lemma check_route_leads : forall route node goal,
  check_route node goal route = true -> leads node goal route.
Proof.
  induction route as [| [[at_ port] vc] rest IH]; simpl; intros node goal H; [discriminate |].
  apply andb_true_iff in H as [Hat H]. apply N.eqb_eq in Hat. subst at_.
  destruct (N.eqb_spec port 0).
  - apply andb_true_iff in H as [Hgoal Hrest]. apply N.eqb_eq in Hgoal.
    destruct rest; [| discriminate]. subst. constructor.
  - destruct (ahead node port) as [next |] eqn:E; [| discriminate].
    eapply leads_on; eauto.
Qed.

Theorem accepted_leads : forall packets, check packets = true ->
  forall p, In p packets -> leads (source p) (target p) (channels p).
Proof.
  unfold check. intros packets H p Hp. rewrite forallb_forall in H. specialize (H p Hp).
  apply andb_true_iff in H as [H _]. now apply check_route_leads.
Qed.

(** *** The order *)

Lemma check_rises_all : forall route before,
  check_rises before route = true -> forall c, In c route -> exists n, rank c = Some n.
Proof.
  induction route as [| c rest IH]; simpl; intros before H d Hd; [contradiction |].
  destruct (rank c) as [n |] eqn:E; [| discriminate].
  apply andb_true_iff in H as [_ H]. destruct Hd as [<- | Hd]; eauto.
Qed.

Lemma check_rises_follows : forall route before a b,
  check_rises before route = true -> follows a b route ->
  exists m n, rank a = Some m /\ rank b = Some n /\ (m < n)%N.
Proof.
  intros route before a b H F. revert before H.
  induction F as [a b rest | a b c rest F IH]; intros before H; simpl in H.
  - destruct (rank a) as [m |] eqn:Ea; [| discriminate].
    apply andb_true_iff in H as [_ H].
    destruct (rank b) as [n |] eqn:Eb; [| discriminate].
    apply andb_true_iff in H as [H _]. apply N.ltb_lt in H. eauto.
  - destruct (rank c) as [m |]; [| discriminate].
    apply andb_true_iff in H as [_ H]. eauto.
Qed.

(** The number of a channel; 0 for one that is in no order. *)
Definition number (c : channel) : N := match rank c with Some n => n | None => 0%N end.

Lemma accepted_rises : forall packets, check packets = true ->
  forall a b, depends packets a b -> (number a < number b)%N.
Proof.
  unfold check. intros packets H a b [p [Hp F]]. rewrite forallb_forall in H. specialize (H p Hp).
  apply andb_true_iff in H as [_ H].
  destruct (check_rises_follows _ _ _ _ H F) as [m [n [Ea [Eb Hlt]]]].
  unfold number. now rewrite Ea, Eb.
Qed.

(** A way of one or more steps of a relation. *)
Inductive way {A : Type} (step : A -> A -> Prop) : A -> A -> Prop :=
| way_one : forall a b, step a b -> way step a b
| way_more : forall a b c, step a b -> way step b c -> way step a c.

Theorem accepted_acyclic : forall packets, check packets = true ->
  forall c, ~ way (depends packets) c c.
Proof.
  intros packets H.
  assert (rises : forall a b, way (depends packets) a b -> (number a < number b)%N).
  { intros a b W. induction W as [a b S | a b c S W IH].
    - now apply (accepted_rises packets).
    - apply (accepted_rises packets) in S; [lia | assumption]. }
  intros c W. apply rises in W. lia.
Qed.

(** *** States of the network *)

(** A state says which packets hold which channels, and for which channel a packet waits. It is
    possible if packets hold and wait for channels of their routes only, a packet holds the channel
    before the one that it waits for, and all channels that it holds come before that one. *)
Record state := { holds : packet -> channel -> Prop; waits : packet -> channel -> Prop }.

Definition before (a b : channel) (route : list channel) : Prop :=
  way (fun x y => follows x y route) a b.

Definition possible (packets : list packet) (s : state) : Prop :=
  forall p wanted, waits s p wanted ->
    In p packets /\ In wanted (channels p) /\
    (forall held, holds s p held -> before held wanted (channels p)).

(** Packet p waits for packet q: q waits too, and holds the channel that p wants. *)
Definition blocked_by (s : state) (p q : packet) : Prop :=
  exists c d, waits s p c /\ holds s q c /\ waits s q d.

Lemma before_rises : forall packets p, check packets = true -> In p packets ->
  forall a b, before a b (channels p) -> (number a < number b)%N.
Proof.
  intros packets p H Hp a b W. induction W as [a b S | a b c S W IH].
  - apply (accepted_rises packets H). exists p. auto.
  - assert (number a < number b)%N by (apply (accepted_rises packets H); exists p; auto). lia.
Qed.

(** A packet waits for one channel at a time. *)
Definition one_wait (s : state) : Prop := forall p c d, waits s p c -> waits s p d -> c = d.

Lemma blocked_rises : forall packets s, check packets = true -> possible packets s -> one_wait s ->
  forall p q, way (blocked_by s) p q ->
  forall c d, waits s p c -> waits s q d -> (number c < number d)%N.
Proof.
  intros packets s H P One p q W. induction W as [p q B | p q r B W IH]; intros c d Wc Wd.
  - destruct B as [c' [d' [Wc' [Hq Wd']]]].
    rewrite (One p c c' Wc Wc'), (One q d d' Wd Wd').
    destruct (P q d' Wd') as [Hin [_ Hb]]. eapply before_rises; eauto.
  - destruct B as [c' [d' [Wc' [Hq Wd']]]].
    rewrite (One p c c' Wc Wc').
    assert (number c' < number d')%N.
    { destruct (P q d' Wd') as [Hin [_ Hb]]. eapply before_rises; eauto. }
    specialize (IH d' d Wd' Wd). lia.
Qed.

Theorem accepted_no_lock : forall packets s,
  check packets = true -> possible packets s -> one_wait s ->
  forall p, ~ way (blocked_by s) p p.
Proof.
  intros packets s H P One p W.
  assert (exists c, waits s p c) as [c Wc].
  { inversion W as [? ? B | ? ? ? B]; destruct B as [x [y [Wx _]]]; eauto. }
  assert (number c < number c)%N by (eapply blocked_rises; eauto). lia.
Qed.

(** If some packets wait, one of them waits for a channel that no waiting packet holds: the packet
    whose channel is the last in the order. *)
Theorem accepted_moves : forall packets s (waiting : list (packet * channel)),
  check packets = true -> possible packets s ->
  waiting <> [] ->
  (forall p c, In (p, c) waiting <-> waits s p c) ->
  exists p c, waits s p c /\ forall q d, waits s q d -> ~ holds s q c.
Proof.
  intros packets s waiting H P Some_ All.
  assert (last : exists p c, In (p, c) waiting /\
            forall q d, In (q, d) waiting -> (number d <= number c)%N).
  { clear All. induction waiting as [| [p c] rest IH]; [contradiction |].
    destruct rest as [| one rest].
    - exists p, c. split; [now left |]. intros q d [E | []]. inversion E. lia.
    - destruct IH as [p' [c' [Hin Hmax]]]; [discriminate |].
      destruct (N.le_gt_cases (number c) (number c')).
      + exists p', c'. split; [now right |].
        intros q d [E | Hq]; [inversion E; subst; lia | now apply Hmax with q].
      + exists p, c. split; [now left |].
        intros q d [E | Hq]; [inversion E; lia | specialize (Hmax q d Hq); lia]. }
  destruct last as [p [c [Hin Hmax]]]. exists p, c. split; [now apply All |].
  intros q d Wd Hold. destruct (P q d Wd) as [Hq [_ Hb]].
  assert (number c < number d)%N by (eapply before_rises; eauto).
  assert (number d <= number c)%N by (apply (Hmax q); now apply All). lia.
Qed.

End Checker.

Print Assumptions accepted_leads.
Print Assumptions accepted_acyclic.
Print Assumptions accepted_no_lock.
Print Assumptions accepted_moves.

Require Import Extraction ExtrOcamlBasic.
Extraction Language OCaml.
Extraction "checker.ml" check.

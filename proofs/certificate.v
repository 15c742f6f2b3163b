(** A checker of certificates against deadlock, with its proof.

    The checker reads links, routes and an order of channels. If it accepts:
    - [accepted_leads]: the route of each packet leads along links from its source to its target;
    - [accepted_acyclic]: the channel dependency graph has no circle;
    - [accepted_no_lock]: in no state of the network do packets wait for each other in a circle;
    - [accepted_moves]: in every state with a waiting packet, some packet waits for a channel that
      no packet holds;
    - [runs_end]: every run ends, after a number of steps that the routes bound;
    - [accepted_delivers]: a run in which nothing is left to do has delivered each packet.

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

(** *** Runs *)

(** A packet that moves: the channels that it holds, the oldest first, and those still ahead. It
    holds a channel while one of its flits is the first in the buffer there. *)
Record mover := { held : list channel; todo : list channel }.
(** Of each packet, by its index in the list. *)
Definition network := nat -> mover.

Definition start (packets : list packet) : network := fun i =>
  {| held := [];
     todo := match nth_error packets i with Some p => channels p | None => [] end |}.

(** Packet i changes, and no other one. *)
Definition becomes (s t : network) (i : nat) (m : mover) : Prop :=
  t i = m /\ forall j, j <> i -> t j = s j.

Definition free (n : nat) (s : network) (c : channel) : Prop :=
  forall j, j < n -> ~ In c (held (s j)).

(** A step of n packets: one takes its next channel, which is free, or leaves its oldest one. *)
Inductive step (n : nat) (s t : network) : Prop :=
| takes : forall i c rest, i < n -> todo (s i) = c :: rest -> free n s c ->
    becomes s t i {| held := held (s i) ++ [c]; todo := rest |} -> step n s t
| leaves : forall i c rest, i < n -> held (s i) = c :: rest ->
    becomes s t i {| held := rest; todo := todo (s i) |} -> step n s t.

(** A run of a number of steps. *)
Inductive run (n : nat) : nat -> network -> network -> Prop :=
| run_none : forall s, run n 0 s s
| run_more : forall k s t u, run n k s t -> step n t u -> run n (S k) s u.

Definition delivered (s : network) (i : nat) : Prop := held (s i) = [] /\ todo (s i) = [].

(** What the hardware does not put off forever: a packet whose ejection it holds leaves its
    channels, and a packet takes a free channel. Its first one only after the packets that it
    [awaits], such as those of earlier steps and of earlier rows of its sender. *)
Definition must_go (awaits : nat -> nat -> Prop) (packets : list packet) (s : network) : Prop :=
  exists i, i < length packets /\
    ((todo (s i) = [] /\ held (s i) <> []) \/
     exists c rest, todo (s i) = c :: rest /\ free (length packets) s c /\
       (todo (s i) = todo (start packets i) -> forall j, awaits i j -> delivered s j)).

(** The steps that a network can make at most. *)
Definition work_of (m : mover) : nat := 2 * length (todo m) + length (held m).
Fixpoint work (n : nat) (s : network) : nat :=
  match n with 0 => 0 | S k => work_of (s k) + work k s end.

Lemma work_alike : forall n s t, (forall j, j < n -> t j = s j) -> work n t = work n s.
Proof.
  induction n as [| n IH]; simpl; intros s t H; [reflexivity |].
  rewrite H by lia. rewrite (IH s t); [reflexivity |]. intros. apply H. lia.
Qed.

Lemma work_changes : forall n s t i m, i < n -> becomes s t i m ->
  work n t + work_of (s i) = work n s + work_of m.
Proof.
  induction n as [| n IH]; simpl; intros s t i m Hi B; [lia |].
  destruct (Nat.eq_dec i n) as [-> | Hn].
  - destruct B as [E O]. rewrite E, (work_alike n s t); [lia |]. intros. apply O. lia.
  - assert (t n = s n) as -> by (apply (proj2 B); lia).
    assert (work n t + work_of (s i) = work n s + work_of m) by (apply IH; [lia | assumption]).
    lia.
Qed.

Lemma step_works : forall n s t, step n s t -> S (work n t) = work n s.
Proof.
  intros n s t [i c rest Hi E _ B | i c rest Hi E B]; pose proof (work_changes n s t i _ Hi B) as W;
    unfold work_of in W; simpl in W; rewrite E in W; rewrite ?app_length in W; simpl in W; lia.
Qed.

(** Every run ends: after at most [work] steps. *)
Theorem runs_end : forall packets k s,
  run (length packets) k (start packets) s -> k <= work (length packets) (start packets).
Proof.
  intros packets k s R.
  enough (k + work (length packets) s = work (length packets) (start packets)) by lia.
  remember (start packets) as begin. induction R as [| k b t u R IH S]; [lia |].
  apply step_works in S. specialize (IH Heqbegin). lia.
Qed.

(** A packet's route is what it left, what it holds, and what is ahead. *)
Lemma run_keeps_routes : forall packets k s, run (length packets) k (start packets) s ->
  forall i, exists gone, todo (start packets i) = gone ++ held (s i) ++ todo (s i).
Proof.
  intros packets k s R. remember (start packets) as begin.
  induction R as [b | k b t u R IH S]; intros i.
  - subst. now exists [].
  - destruct (IH Heqbegin i) as [gone E]. rewrite E.
    destruct S as [j c rest _ T _ [B O] | j c rest _ T [B O]];
      (destruct (Nat.eq_dec i j) as [-> | Hij]; [rewrite B, T; simpl | rewrite O by assumption]).
    + exists gone. now rewrite <- app_assoc.
    + now exists gone.
    + exists (gone ++ [c]). now rewrite <- app_assoc.
    + now exists gone.
Qed.

Lemma check_rises_later : forall route m c,
  check_rises (Some m) route = true -> In c route -> (m < number c)%N.
Proof.
  induction route as [| d rest IH]; simpl; intros m c H Hc; [contradiction |].
  destruct (rank d) as [here |] eqn:E; [| discriminate].
  apply andb_true_iff in H as [Hm H]. apply N.ltb_lt in Hm.
  destruct Hc as [<- | Hc]; [unfold number; now rewrite E |].
  specialize (IH here c H Hc). lia.
Qed.

Lemma check_rises_apart : forall first route before a b,
  check_rises before (first ++ route) = true -> In a first -> In b route ->
  (number a < number b)%N.
Proof.
  induction first as [| d first IH]; simpl; intros route before a b H Ha Hb; [contradiction |].
  destruct (rank d) as [here |] eqn:E; [| discriminate].
  apply andb_true_iff in H as [_ H]. destruct Ha as [<- | Ha]; [| eapply IH; eauto].
  unfold number at 1. rewrite E. eapply check_rises_later; [exact H |].
  apply in_or_app. now right.
Qed.

(** Of numbers below n, one has a property, or none has. *)
Lemma some_or_none : forall (P : nat -> Prop) n, (forall i, {P i} + {~ P i}) ->
  (exists i, i < n /\ P i) \/ forall i, i < n -> ~ P i.
Proof.
  intros P n D. induction n as [| n [[i [Hi HP]] | None_]]; [right; lia | left; exists i; auto |].
  destruct (D n) as [HP | HP]; [left; exists n; auto |].
  right. intros i Hi. destruct (Nat.eq_dec i n) as [-> | ?]; [assumption | apply None_; lia].
Qed.

(** If one has a property, there is a first one, *)
Lemma first_one : forall (P : nat -> Prop) n, (forall i, {P i} + {~ P i}) ->
  (exists i, i < n /\ P i) -> exists i, i < n /\ P i /\ forall j, j < i -> ~ P j.
Proof.
  intros P n D. induction n as [| n IH]; intros [i [Hi HP]]; [lia |].
  destruct (some_or_none P n D) as [Some_ | None_].
  - destruct (IH Some_) as [j [Hj H]]. exists j. auto.
  - exists n. assert (i = n) as <- by (destruct (Nat.eq_dec i n); [assumption |];
      exfalso; apply (None_ i); [lia | assumption]). auto.
Qed.

(** and one of the greatest value. *)
Lemma greatest_one : forall (P : nat -> Prop) (f : nat -> N) n, (forall i, {P i} + {~ P i}) ->
  (exists i, i < n /\ P i) ->
  exists i, i < n /\ P i /\ forall j, j < n -> P j -> (f j <= f i)%N.
Proof.
  intros P f n D. induction n as [| n IH]; intros [i [Hi HP]]; [lia |].
  destruct (some_or_none P n D) as [Some_ | None_].
  - destruct (IH Some_) as [g [Hg [Pg Max]]].
    destruct (D n) as [Pn | Pn]; [destruct (N.le_gt_cases (f n) (f g)) as [L | L] |].
    + exists g. repeat split; auto. intros j Hj Pj.
      destruct (Nat.eq_dec j n) as [-> | ?]; [assumption | apply Max; [lia | assumption]].
    + exists n. repeat split; auto. intros j Hj Pj.
      destruct (Nat.eq_dec j n) as [-> | ?]; [lia |].
      assert (f j <= f g)%N by (apply Max; [lia | assumption]). lia.
    + exists g. repeat split; auto. intros j Hj Pj.
      destruct (Nat.eq_dec j n) as [-> | ?]; [contradiction | apply Max; [lia | assumption]].
  - assert (forall j, j < S n -> P j -> j = n) as Only.
    { intros j Hj Pj. destruct (Nat.eq_dec j n); [assumption |].
      exfalso. apply (None_ j); [lia | assumption]. }
    exists i. repeat split; auto. intros j Hj Pj.
    rewrite (Only j Hj Pj), (Only i Hi HP). lia.
Qed.

Definition channel_dec (a b : channel) : {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Definition route_dec : forall a b : list channel, {a = b} + {a <> b} := list_eq_dec channel_dec.

(** While a packet is not delivered, the network has something to do that it does not put off. With
    [runs_end]: every run ends, and at its end each packet is delivered. *)
Theorem accepted_delivers : forall packets (awaits : nat -> nat -> Prop) k s,
  check packets = true -> (forall i j, awaits i j -> j < i) ->
  run (length packets) k (start packets) s ->
  (forall i, i < length packets -> delivered s i) \/ must_go awaits packets s.
Proof.
  intros packets awaits k s H Earlier R. set (n := length packets) in *.
  pose proof (run_keeps_routes packets k s R) as Routes.
  assert (ahead_of : forall i a b, In a (held (s i)) -> In b (todo (s i)) ->
            (number a < number b)%N).
  { intros i a b Ha Hb. destruct (Routes i) as [gone E].
    destruct (nth_error packets i) as [p |] eqn:Ep.
    - apply nth_error_In in Ep as Hp. unfold check in H. rewrite forallb_forall in H.
      specialize (H p Hp). apply andb_true_iff in H as [_ H].
      unfold start in E. simpl in E. rewrite Ep in E. rewrite E, app_assoc in H.
      eapply check_rises_apart; [exact H | apply in_or_app; now right | assumption].
    - unfold start in E. simpl in E. rewrite Ep in E. symmetry in E.
      apply app_eq_nil in E as [_ E]. apply app_eq_nil in E as [E _].
      rewrite E in Ha. contradiction. }
  assert (begun : forall i, held (s i) <> [] -> todo (s i) <> todo (start packets i)).
  { intros i Hh E. destruct (Routes i) as [gone E']. rewrite <- E in E'.
    apply (f_equal (@length channel)) in E'. rewrite !app_length in E'.
    destruct (held (s i)); [contradiction | simpl in E'; lia]. }
  destruct (some_or_none (fun i => todo (s i) = [] /\ held (s i) <> []) n) as [[i [Hi E]] | Ended].
  { intros i. destruct (route_dec (todo (s i)) []), (route_dec (held (s i)) []); tauto. }
  { right. exists i. auto. }
  assert (holder_waits : forall j, j < n -> held (s j) <> [] -> todo (s j) <> []).
  { intros j Hj Hh E. apply (Ended j Hj). auto. }
  set (waits_on := fun i => todo (s i) <> [] /\ todo (s i) <> todo (start packets i)).
  assert (D : forall i, {waits_on i} + {~ waits_on i}).
  { intros i. unfold waits_on.
    destruct (route_dec (todo (s i)) []), (route_dec (todo (s i)) (todo (start packets i))); tauto. }
  set (wanted := fun i => match todo (s i) with c :: _ => number c | [] => 0%N end).
  destruct (some_or_none waits_on n D) as [Some_ | None_].
  - right. destruct (greatest_one waits_on wanted n D Some_) as [i [Hi [[Ht Hb] Max]]].
    exists i. split; [assumption |]. right.
    destruct (todo (s i)) as [| c rest] eqn:E; [contradiction |].
    exists c, rest. split; [reflexivity | split; [| intros; contradiction]].
    intros j Hj Hc. assert (held (s j) <> []) as Hh by (intros E'; rewrite E' in Hc; contradiction).
    assert (wanted j <= wanted i)%N by (apply Max; [assumption | split; auto]).
    unfold wanted in *. rewrite E in *. specialize (holder_waits j Hj Hh).
    destruct (todo (s j)) as [| d others] eqn:Ej; [contradiction |].
    assert (number c < number d)%N by (apply (ahead_of j); [assumption | rewrite Ej; now left]).
    lia.
  - assert (still : forall j, j < n -> held (s j) = []).
    { intros j Hj. destruct (route_dec (held (s j)) []) as [E | Hh]; [assumption |].
      exfalso. apply (None_ j Hj). split; auto. }
    assert (D' : forall i, {~ delivered s i} + {~ ~ delivered s i}).
    { intros i. unfold delivered.
      destruct (route_dec (held (s i)) []), (route_dec (todo (s i)) []); tauto. }
    destruct (some_or_none (fun i => ~ delivered s i) n D') as [Some_ | All].
    + right. destruct (first_one _ n D' Some_) as [i [Hi [Not First]]].
      exists i. split; [assumption |]. right.
      destruct (todo (s i)) as [| c rest] eqn:E.
      { exfalso. apply Not. split; auto. }
      exists c, rest. split; [reflexivity | split].
      * intros j Hj Hc. rewrite (still j Hj) in Hc. contradiction.
      * intros _ j Hij. assert (HH : ~ ~ delivered s j) by (apply First; eauto).
        unfold delivered in *.
        destruct (route_dec (held (s j)) []), (route_dec (todo (s j)) []); tauto.
    + left. intros i Hi. specialize (All i Hi). unfold delivered in *.
      destruct (route_dec (held (s i)) []), (route_dec (todo (s i)) []); tauto.
Qed.

End Checker.

Print Assumptions accepted_leads.
Print Assumptions accepted_acyclic.
Print Assumptions accepted_no_lock.
Print Assumptions accepted_moves.
Print Assumptions runs_end.
Print Assumptions accepted_delivers.

Require Import Extraction ExtrOcamlBasic.
Extraction Language OCaml.
Extraction "checker.ml" check.
